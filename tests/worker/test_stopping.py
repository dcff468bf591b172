"""Stops at awkward moments, and what becomes of the jobs that ran."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion import App, Worker
from stanchion.worker.worker import SIGNAL_SECONDS
from tests.worker.waiting import until


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(f"sqlite:///{tmp_path / 'jobs.db'}?durability=fast")
    yield app
    app.close()


def run(worker: Worker) -> threading.Thread:
    thread = threading.Thread(target=worker.run)
    thread.start()
    return thread


def ended(thread: threading.Thread) -> bool:
    thread.join(20)
    return not thread.is_alive()


def test_a_stop_before_it_runs_is_kept(app: App) -> None:
    worker = Worker(app)
    worker.stop()
    assert worker.run() == 0


def test_a_job_may_stop_its_own_worker(app: App) -> None:
    @app.task
    def work() -> str:
        worker.stop()
        return "done"

    worker = Worker(app, threads=1)
    first, second = work.put(), work.put()
    assert worker.run() == 1
    assert (first.result(1), app.client.queues["default"].jobs("waiting")) == ("done", (second.jid,))


def test_an_idle_worker_stops_at_once(app: App) -> None:
    worker = Worker(app)
    thread = run(worker)
    worker.stop()
    thread.join(SIGNAL_SECONDS * 10)
    assert not thread.is_alive()


def test_async_code_is_cancelled_and_cleans_up_before_its_worker_ends(app: App) -> None:
    started, cleaned = threading.Event(), []

    @app.task
    async def endless() -> None:
        started.set()
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    handle = endless.put()
    worker = Worker(app, threads=1)
    thread = run(worker)
    assert started.wait(10)
    worker.stop()
    worker.stop()
    assert ended(thread)
    job = handle.get()
    assert job is not None
    assert (cleaned, job.state, job.remaining) == ([True], "stalled", 5)


def test_a_job_that_another_worker_has_now_is_not_handed_back(app: App) -> None:
    started, over = threading.Event(), threading.Event()

    @app.task
    def slow() -> None:
        started.set()
        over.wait(20)

    handle = slow.put()
    app.client.config.set("heartbeat", 0.3)
    worker = Worker(app, threads=1)
    thread = run(worker)
    assert started.wait(10)
    app.client.config.set("heartbeat", 60)
    app.client.queues["default"].pause()
    app.client.jobs[handle.jid].move("elsewhere")
    taken = app.client.queues["elsewhere"].pop("another")
    assert taken is not None
    (lease,) = worker._loop.leases
    until(lambda: lease.lost)
    worker.stop()
    worker.stop()
    assert ended(thread)
    assert taken.complete() == "complete"
    over.set()
