"""Apps and workers on a server: what the embedded queue does for them, this one does too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import App, Client, Worker
from tests.servers import SHARED, Server

TASKS = """
import os, time
from stanchion import App

app = App(os.environ["STANCHION_URL"])

@app.task
def slow(path: str) -> int:
    open(path, "a").write("started\\n")
    while os.path.exists(path + ".hold"):
        time.sleep(0.02)
    return os.getpid()
"""


@pytest.fixture
def url() -> Iterator[str]:
    yield SHARED.url("valkey")
    SHARED.remove()


@pytest.fixture
def app(url: str) -> Iterator[App]:
    app = App(url)
    yield app
    app.close()


def working(app: App, **options: Any) -> tuple[Worker, threading.Thread]:
    worker = Worker(app, ["default"], **options)
    thread = threading.Thread(target=worker.run)
    thread.start()
    return worker, thread


def test_an_idle_worker_takes_what_is_put(app: App) -> None:
    @app.task
    def add(a: int, b: int) -> int:
        return a + b

    worker, thread = working(app)
    try:
        for number in range(20):
            start = time.monotonic()
            assert add.put(number, 1).result(timeout=5) == number + 1
            assert time.monotonic() - start < 2
    finally:
        worker.stop()
        thread.join()


def test_a_burst_runs_everything_and_keeps_what_failed(app: App) -> None:
    @app.task(retries=0)
    def maybe(number: int) -> int:
        if number % 10 == 0:
            raise ValueError(f"no {number}")
        return number

    app.put_many([maybe.job(number) for number in range(100)])
    Worker(app, ["default"], threads=4).run(burst=True)
    groups = app.client.failures.groups()
    assert sum(groups.values()) == 10
    assert app.client.queues["default"].counts().waiting == 0


def test_a_killed_worker_s_job_goes_on_elsewhere(tmp_path: Path) -> None:
    with Server("valkey") as server:
        (tmp_path / "tasks.py").write_text(TASKS)
        mark, hold = tmp_path / "mark", tmp_path / "mark.hold"
        hold.touch()
        environment = {**os.environ, "STANCHION_URL": server.url, "PYTHONPATH": str(tmp_path)}
        command = [sys.executable, "-m", "stanchion", "worker", "tasks:app"]
        with Client(server.url) as client:
            client.config.set("heartbeat", 1)
            client.config.set("grace-period", 0.2)
            jid = client.queues["default"].put("tasks.slow", {"args": [str(mark)], "kwargs": {}})
            first = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
            until(mark.exists)
            first.send_signal(signal.SIGKILL)
            first.wait()
            second = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
            try:
                until(lambda: mark.read_text().count("started") == 2)
                hold.unlink()
                until(lambda: client.jobs[jid].get().state == "complete")
                assert client.jobs[jid].get().attempt == 2
            finally:
                second.terminate()
                second.wait()


def until(true: Any) -> None:
    deadline = time.monotonic() + 15
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)
