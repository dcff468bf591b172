"""A store that cannot be used for a while, and a worker that stood still for a while."""

from __future__ import annotations

import logging
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from stanchion import App, Worker
from tests.worker.waiting import until


@pytest.mark.live
def test_what_a_busy_store_kept_from_being_settled_is_settled_later(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = App(f"sqlite:///{tmp_path}/jobs.db?durability=fast")
    started, go = threading.Event(), threading.Event()

    @app.task
    def work() -> str:
        started.set()
        return "done" if go.wait(20) else "late"

    handle = work.put()
    thread = threading.Thread(target=Worker(app, threads=1).run, kwargs={"burst": True})
    with caplog.at_level(logging.WARNING), closing(sqlite3.connect(tmp_path / "jobs.db", isolation_level=None)) as other:
        thread.start()
        assert started.wait(10)
        other.execute("BEGIN IMMEDIATE")
        go.set()
        until(lambda: "trying again" in caplog.text)
        other.execute("ROLLBACK")
        thread.join(20)
    assert not thread.is_alive()
    job = handle.get()
    assert job is not None
    assert (job.state, job.result, job.attempt) == ("complete", '"done"', 1)
    app.close()
