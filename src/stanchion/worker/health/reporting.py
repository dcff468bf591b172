"""Telling how a worker is: to systemd and into a file every two seconds, and over HTTP whenever somebody asks."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from stanchion.worker.health.systemd import notify, watchdog_seconds

log = logging.getLogger("stanchion.worker")

REPORT_SECONDS = 2.0

Look = Callable[[], Sequence[str]]
"""What is wrong at the moment."""


class Reports:
    """Reports of a worker from now on, until they are closed. OSError for a port that is taken, or a folder that is not there.

    The file says what the answer to ``GET /healthz`` says; it is written anew every two seconds, and is gone once the worker is.
    """

    def __init__(self, look: Look, file: Path | None = None, port: int | None = None, host: str = "127.0.0.1") -> None:
        self._look = look
        self._file = file
        self._closed = threading.Event()
        self._server = None if port is None else _Server((host, port), look)
        self._every = min(REPORT_SECONDS, (watchdog_seconds() or 2 * REPORT_SECONDS) / 2)
        if file is not None:
            _write(file, look())
        notify("READY=1")
        self._threads = [threading.Thread(target=self._report, name="stanchion-health", daemon=True)]
        if self._server is not None:
            self._threads.append(threading.Thread(target=self._server.serve_forever, name="stanchion-healthz", daemon=True))
        for thread in self._threads:
            thread.start()

    @property
    def port(self) -> int | None:
        """Where health is asked for; a free port, if 0 was given."""
        return None if self._server is None else int(self._server.server_address[1])

    def close(self) -> None:
        """The worker ends: tell so, and no more."""
        notify("STOPPING=1")
        self._closed.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        for thread in self._threads:
            thread.join()
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def _report(self) -> None:
        while not self._closed.wait(self._every):
            problems = self._look()
            # Of a worker that is not well, systemd's watchdog hears nothing: it is started again.
            notify(f"STATUS={'; '.join(problems)}" if problems else "WATCHDOG=1\nSTATUS=well")
            if self._file is not None:
                try:
                    _write(self._file, problems)
                except OSError as error:
                    log.warning("the health file cannot be written: %s", error)


def _write(file: Path, problems: Sequence[str]) -> None:
    # Moved into place, so that nobody reads half of it.
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.write_text(_text(problems))
    fresh.replace(file)


def _text(problems: Sequence[str]) -> str:
    return json.dumps({"healthy": not problems, "problems": list(problems)}) + "\n"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], look: Look) -> None:
        self.look = look
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 5.0

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/healthz":
            self.send_error(404)
            return
        problems = self.server.look()
        body = _text(problems).encode()
        self.send_response(503 if problems else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Being asked is nothing to tell."""
