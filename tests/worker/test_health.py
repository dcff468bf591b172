"""Whoever watches over a worker is told when it stops being well, and when it is again."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from stanchion.worker.health import Pulse, Reports, pulse
from stanchion.worker.health.systemd import watchdog_seconds
from tests.servers import Server, free_port
from tests.worker.waiting import until

TASKS = """
import time
from stanchion import App
app = App()

@app.task
def work(seconds: float) -> None:
    time.sleep(seconds)
"""


@contextmanager
def worker(folder: Path, url: str, *options: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    (folder / "healthy.py").write_text(TASKS)
    command = [sys.executable, "-m", "stanchion", "worker", "healthy:app", "--threads", "1", *options]
    process = subprocess.Popen(
        command, cwd=folder, env={**os.environ, "STANCHION_URL": url, **environment}, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def asked(port: int, path: str = "/healthz") -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null") if error.code == 503 else None
    except OSError:
        return 0, None


@pytest.mark.slow
def test_a_store_that_stops_answering_turns_it_red_within_ten_seconds(tmp_path: Path) -> None:
    port = free_port()
    file = tmp_path / "health"
    with (
        Server("valkey") as server,
        worker(tmp_path, server.url, "--health-port", str(port), "--health-file", str(file)) as process,
    ):
        until(lambda: asked(port) == (200, {"healthy": True, "problems": []}))
        assert json.loads(file.read_text())["healthy"]
        assert asked(port, "/")[0] == 404
        os.kill(server.pid, signal.SIGSTOP)
        stopped = time.monotonic()
        try:
            until(lambda: asked(port)[0] == 503, 15)
            assert time.monotonic() - stopped < 12  # ten, and what a busy machine adds
            until(lambda: any("the store has not answered" in problem for problem in asked(port)[1]["problems"]))
            until(lambda: not json.loads(file.read_text())["healthy"])
        finally:
            os.kill(server.pid, signal.SIGCONT)
        until(lambda: asked(port)[0] == 200, 30)
        assert process.poll() is None
    assert not file.exists()


@pytest.mark.slow
def test_a_worker_that_is_busy_for_long_is_well(tmp_path: Path) -> None:
    port = free_port()
    url = f"sqlite:///{tmp_path}/jobs.db"
    with worker(tmp_path, url, "--health-port", str(port)):
        until(lambda: asked(port)[0] == 200)
        put = "import healthy; healthy.work.put(10.0)"
        subprocess.run([sys.executable, "-c", put], cwd=tmp_path, env={**os.environ, "STANCHION_URL": url}, check=True)
        until_over = time.monotonic() + 9.5
        while time.monotonic() < until_over:
            assert asked(port)[0] == 200
            time.sleep(0.5)


@pytest.mark.slow
def test_systemd_is_notified(tmp_path: Path) -> None:
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(path)
        listening.settimeout(20)
        with worker(tmp_path, f"sqlite:///{tmp_path}/jobs.db", NOTIFY_SOCKET=path, WATCHDOG_USEC="600000"):
            assert listening.recv(100) == b"READY=1"
            assert listening.recv(100) == b"WATCHDOG=1\nSTATUS=well"
            assert listening.recv(100) == b"WATCHDOG=1\nSTATUS=well"
        said = b""
        while said != b"STOPPING=1":
            said = listening.recv(100)


def test_systemd_s_watchdog_is_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "3000000")
    assert watchdog_seconds() == 3
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
    assert watchdog_seconds() == 3
    monkeypatch.setenv("WATCHDOG_PID", "1")
    assert watchdog_seconds() is None
    monkeypatch.delenv("WATCHDOG_PID")
    monkeypatch.setenv("WATCHDOG_USEC", "soon")
    assert watchdog_seconds() is None


def test_a_pulse_tells_what_has_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(pulse.time, "monotonic", lambda: now[0])
    found = Pulse()
    assert found.problems() == []
    now[0] += pulse.RED_SECONDS + 1
    assert found.problems() == ["the worker has not moved for 9 s", "the store has not answered for 9 s"]
    found.move()
    assert found.problems() == ["the store has not answered for 9 s"]
    assert found.is_silent()
    found.hear()
    assert found.problems() == []


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        Reports(list, None, taken.getsockname()[1])
