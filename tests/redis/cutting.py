"""A way to a server that can be cut: after so many bytes of the next answer, or of the next request."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from typing import Any, Self

RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: closing sends a reset, as a machine that is gone does."""


class CuttingProxy:
    """Passes everything on, until it is told to cut."""

    def __init__(self, port: int) -> None:
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._closed = False
        self.cuts = 0
        self.size = 0
        """How long the last thing was that was cut."""
        self.at_cut: Callable[[], Any] = lambda: None
        """What happens once an answer or a request was lost, before anybody notices."""
        self._reply_left: int | None = None
        self._request_left: int | None = None
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_reply(self, after: int) -> None:
        """Let so many bytes of the next answer through, and then none."""
        self._reply_left = after

    def cut_request(self, after: int) -> None:
        """Let so many bytes of the next request through, and then none."""
        self._request_left = after

    def close(self) -> None:
        """Let nobody in any more."""
        self._closed = True
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        if not self._closed:
            self.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._closed:
                client.close()
                return
            server = socket.create_connection(("127.0.0.1", self._server))
            for source, target, is_reply in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pass_on, args=(source, target, is_reply), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, is_reply: bool) -> None:
        try:
            while data := source.recv(65536):
                left = self._take(is_reply)
                if left is not None:
                    self.cuts, self.size = self.cuts + 1, len(data)
                    target.sendall(data[:left])
                    self.at_cut()
                    break
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            _reset(end)

    def _take(self, is_reply: bool) -> int | None:
        """What was asked to be cut here, once."""
        if is_reply:
            left, self._reply_left = self._reply_left, None
        else:
            left, self._request_left = self._request_left, None
        return left


def _reset(end: socket.socket) -> None:
    try:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()
