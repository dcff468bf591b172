"""A stop that comes at an awkward moment."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import App, Worker


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(f"sqlite:///{tmp_path / 'jobs.db'}?durability=fast")
    yield app
    app.close()


class StoppedInItsTurn(Worker):
    """It is told to stop while it takes its first job, and tells when it then waits for that job."""

    waits = threading.Event()

    def _turn(self) -> int:
        started = super()._turn()
        if started:
            self.stop()
        return started

    def _sleep(self, *arguments: Any) -> None:
        if self._stops:
            self.waits.set()
        super()._sleep(*arguments)


def test_a_stop_in_the_middle_of_a_turn_lets_the_job_finish(app: App) -> None:
    @app.task
    def work() -> str:
        return "done" if StoppedInItsTurn.waits.wait(10) else "nobody waited"

    handle = work.put()
    assert StoppedInItsTurn(app).run() == 1
    job = app.client.jobs[handle.jid].get()
    assert job is not None
    assert (job.state, job.result) == ("complete", '"done"')
