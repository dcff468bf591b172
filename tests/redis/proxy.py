"""A way to a server that falls silent, or lets bytes through one at a time; for cuts see ``cutting``."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Self


class Proxy:
    """Passes everything on, unless it is told otherwise. It goes on listening while silent, as a half-open connection does."""

    def __init__(self, port: int) -> None:
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.silent_replies = False
        """The server's answers are swallowed."""
        self.silent = False
        """Nothing passes, either way."""
        self.slice = 65536
        """The most bytes that are passed on at a time."""
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        for one in (self._listener, *self._sockets):
            _shut(one)
            one.close()

    def turn_to(self, port: int) -> None:
        """End all connections; new ones lead to another server."""
        self._server = port
        old, self._sockets = self._sockets, []
        for one in old:
            _shut(one)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._server))
            except OSError:
                client.close()
                continue
            server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets += [client, server]
            for source, target, reply in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pass_on, args=(source, target, reply), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, reply: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if self.silent or (reply and self.silent_replies):
                    continue
                for start in range(0, len(data), self.slice):
                    target.sendall(data[start : start + self.slice])
        _shut(target)
        source.close()


def _shut(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
