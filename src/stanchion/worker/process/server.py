"""The process that children are forked from. It imports the app, has one thread only, and opens nothing."""

from __future__ import annotations

import importlib
import os
import select
import signal
import socket
import subprocess
import sys
import traceback
from contextlib import suppress

from stanchion.tasks.app import App
from stanchion.worker.process import child, linux
from stanchion.worker.process.wire import CHUNK, Death, Prepared, Setup, decode, encode

_serving = False


def is_serving() -> bool:
    """Is this a server, or one of its children?"""
    return _serving


def main(control: int, parent: int) -> None:
    """Serve the worker whose process is ``parent`` until it ends or closes its side of the socket ``control``."""
    global _serving  # noqa: PLW0603 - what this process is for never changes
    _serving = True
    linux.adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    socket_ = socket.socket(fileno=control)
    setup = decode(socket_.recv(CHUNK))
    assert isinstance(setup, Setup)
    try:
        app = load(setup)
    except BaseException:  # noqa: BLE001 - whatever it is, the worker tells it
        socket_.send(encode(Prepared(traceback.format_exc()[-CHUNK // 2 :])))
        return
    socket_.send(encode(Prepared()))
    _Server(socket_, parent, app, setup).run()


def load(setup: Setup) -> App:
    """The app, found as the worker found it."""
    sys.path[:] = setup.path
    app = getattr(importlib.import_module(setup.module), setup.name)
    for module in setup.modules:
        importlib.import_module(module)
    if not isinstance(app, App):
        raise TypeError(f"{setup.module}:{setup.name} is no stanchion.App")
    if setup.url is not None:
        app.use(setup.url)
    return app


class _Server:
    def __init__(self, control: socket.socket, parent: int, app: App, setup: Setup) -> None:
        self._control = control
        self._parent = parent
        self._app = app
        self._setup = setup
        self._obituaries: dict[int, int] = {}
        self._known = linux.children()  # what importing the app has started

    def run(self) -> None:
        """Start children and tell of their deaths, until the worker ends."""
        try:
            gone = os.pidfd_open(self._parent)
        except ProcessLookupError:
            return
        ended, tell = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(tell)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        poll = select.poll()
        for file in (self._control.fileno(), ended, gone):
            poll.register(file, select.POLLIN)
        alive = True
        while alive:
            ready = {file for file, _ in poll.poll()}
            if ended in ready:
                os.read(ended, CHUNK)
                self._reap()
            alive = gone not in ready and (self._control.fileno() not in ready or self._start())
        self._end()

    def _start(self) -> bool:
        """Start the child that the worker asks for; False if it asks for none any more."""
        data, files, _, _ = socket.recv_fds(self._control, CHUNK, 3)
        if not data:
            return False
        channel, output, obituary = files
        # A fork copies locks as they are: where the app has started threads, a fresh interpreter is started instead.
        pid = self._fork(channel, output) if linux.threads() == 1 else self._spawn(channel, output)
        os.close(channel)
        os.close(output)
        self._obituaries[pid] = obituary
        return True

    def _fork(self, channel: int, output: int) -> int:
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        pid = os.fork()
        if pid:
            return pid
        try:
            signal.set_wakeup_fd(-1)
            self._control.close()
            for obituary in self._obituaries.values():
                os.close(obituary)
            child.main(channel, output, parent, self._app)
        except BaseException:  # noqa: BLE001 - the server's own code must not go on in a child
            traceback.print_exc()
        finally:
            os._exit(1)

    def _spawn(self, channel: int, output: int) -> int:
        for file in (channel, output):
            os.set_inheritable(file, True)
        code = "import sys; from stanchion.worker.process.server import spawned; spawned(*sys.argv[1:])"
        arguments = [sys.executable, "-c", code, str(channel), str(output), str(os.getpid()), encode(self._setup).hex()]
        return os.posix_spawn(sys.executable, arguments, dict(os.environ))

    def _reap(self) -> None:
        """Tell of the children that have ended, after all that they had started has."""
        while (state := _ended()) is not None:
            linux.kill_group(state)  # while it is not reaped, its number is nobody else's
            pid, status, usage = os.wait4(state, 0)
            obituary = self._obituaries.pop(pid, None)
            if obituary is None:
                continue
            linux.kill_strays(self._known | self._obituaries.keys())
            with suppress(OSError):
                os.write(obituary, encode(Death(status, usage.ru_maxrss * 1024)))
            os.close(obituary)

    def _end(self) -> None:
        for pid in self._obituaries:
            linux.kill_group(pid)
            linux.kill(pid)
        linux.kill_strays(set())


def _ended() -> int | None:
    try:
        state = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return None if state is None else state.si_pid


def spawned(channel: str, output: str, parent: str, setup: str) -> None:
    """A child that was not forked: it imports the app itself."""
    told = decode(bytes.fromhex(setup))
    assert isinstance(told, Setup)
    child.main(int(channel), int(output), int(parent), load(told))


def start(control: socket.socket) -> subprocess.Popen[bytes]:
    """Start a server, in a session of its own so that a terminal's Ctrl-C is the worker's alone."""
    code = "import sys; from stanchion.worker.process.server import main; main(int(sys.argv[1]), int(sys.argv[2]))"
    command = [sys.executable, "-c", code, str(control.fileno()), str(os.getpid())]
    return subprocess.Popen(command, pass_fds=[control.fileno()], stdin=subprocess.DEVNULL, start_new_session=True)
