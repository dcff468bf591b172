"""The worker's side of the server: it starts the server, and asks it for children."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

from stanchion.tasks.app import App
from stanchion.worker.process import server
from stanchion.worker.process.wire import CHUNK, Channel, Death, Prepared, Setup, decode, encode

IMPORT_SECONDS = 120.0
"""How long importing the app may take."""

END_SECONDS = 5.0


class CannotStart(Exception):
    """Children cannot be started: why."""


class Child:
    """The worker's ends of a child's pipes: what is told, what it writes, and how it ended."""

    def __init__(self, channel: Channel, output: int, obituary: int) -> None:
        self.channel = channel
        self.output = output
        self.obituary = obituary

    def death(self) -> Death | None:
        """How it ended, once ``obituary`` can be read; None if the server ended with it."""
        data = os.read(self.obituary, CHUNK)
        found = decode(data) if data else None
        return found if isinstance(found, Death) else None

    def close(self) -> None:
        """Close all ends; a child that lives ends itself."""
        self.channel.close()
        os.close(self.output)
        os.close(self.obituary)


class Nursery:
    """Starts children, by a server that is started again when it has died. For any thread."""

    def __init__(self, app: App) -> None:
        if server.is_serving():
            # Or each server would start another, without end.
            raise CannotStart('a script that starts a worker as it is imported: put that under if __name__ == "__main__"')
        self._setup = setup_of(app)
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._server: subprocess.Popen[bytes] | None = None

    def open(self) -> None:
        """Start the server now. CannotStart if the app cannot be imported there."""
        with self._lock:
            if self._control is None:
                self._open()

    def child(self) -> Child:
        """A new child. CannotStart if there can be none."""
        with self._lock:
            if self._control is None or (self._server is not None and self._server.poll() is not None):
                self._shut()
                self._open()
            return self._ask()

    def close(self) -> None:
        """End the server, and with it every child."""
        with self._lock:
            self._shut()

    def _open(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._server = server.start(theirs)
        self._control = ours
        ours.settimeout(IMPORT_SECONDS)
        try:
            ours.send(encode(self._setup))
            data = ours.recv(CHUNK)
        except OSError as error:
            self._shut()
            raise CannotStart(f"the process that starts children does not answer: {error}") from error
        answer = decode(data) if data else Prepared("that process ended at once")
        assert isinstance(answer, Prepared)
        if answer.problem:
            self._shut()
            raise CannotStart(f"{self._setup.module} cannot be imported in a process of its own:\n{answer.problem}")

    def _ask(self) -> Child:
        assert self._control is not None
        ours, theirs = socket.socketpair()
        output, write = os.pipe()
        obituary, tell = os.pipe()
        child = Child(Channel(ours), output, obituary)
        os.set_blocking(output, False)
        try:
            socket.send_fds(self._control, [b"child"], [theirs.fileno(), write, tell])
        except OSError as error:
            child.close()
            raise CannotStart(f"the process that starts children is gone: {error}") from error
        finally:
            theirs.close()
            os.close(write)
            os.close(tell)
        return child

    def _shut(self) -> None:
        control, self._control = self._control, None
        process, self._server = self._server, None
        if control is not None:
            control.close()
        if process is not None:
            _end(process)


def setup_of(app: App) -> Setup:
    """Where another process finds the app and its tasks: not in the script that is run, if another module has it.

    CannotStart for an app that no module has.
    """
    for module in sorted(sys.modules.values(), key=lambda module: getattr(module, "__name__", "") == "__main__"):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if value is app:
                modules = tuple(sorted({_importable(runnable.module) for runnable in app.runnables.values()}))
                return Setup(_importable(module.__name__), name, modules, _path(), app.url)
    raise CannotStart("jobs in processes need an app that is a module's global variable, so that others can import it")


def _importable(module: str) -> str:
    """The name by which a module is imported: that of a script that is run is the name of its file."""
    if module != "__main__":
        return module
    main = sys.modules["__main__"]
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if spec is not None:
        return str(spec.name)
    if file is None:
        raise CannotStart("jobs in processes need tasks in a module; those of an interactive session are in none")
    return Path(file).stem


def _path() -> tuple[str, ...]:
    return tuple(path or os.getcwd() for path in sys.path)


def _end(process: subprocess.Popen[bytes]) -> None:
    """The server ends with its socket, and kills its children first."""
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()  # the kernel then kills the children
        process.wait()
