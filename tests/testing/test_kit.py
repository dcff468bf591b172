"""The kit: puts stay in memory, the clock is turned by hand, jobs run when the test says."""

from __future__ import annotations

import pytest

from stanchion import App
from stanchion.rules.backoff import Constant
from stanchion.testing import Endless, Kit


def test_a_delayed_job_runs_once_its_time_has_come(tmp_path):
    app, seen = App(f"sqlite:///{tmp_path}/jobs.db"), []

    @app.task(queue="mail", delay=60)
    def send(to: str) -> None:
        seen.append(to)

    with Kit(app, now=1000.0) as kit:
        send.put("ada")
        assert kit.drain("mail") == []
        kit.clock.advance(60)
        assert [ran.job.klass for ran in kit.drain("mail")] == [send.name]
    assert seen == ["ada"]
    assert not (tmp_path / "jobs.db").exists()


def test_an_endless_loop_is_stopped_and_the_job_named():
    app = App("sqlite://")

    @app.task(queue="mail")
    def again() -> None:
        again.put()

    with Kit(app) as kit:
        again.put()
        with pytest.raises(Endless, match="again"):
            kit.drain("mail", limit=5)


def test_nested_use_is_refused():
    app = App("sqlite://")
    with Kit(app), pytest.raises(RuntimeError, match="under test already"), Kit(app):
        pass


def test_coroutines_run_and_a_job_that_raises_is_tried_again():
    app, seen = App("sqlite://"), []

    @app.task(queue="mail", retries=1, backoff=Constant(30.0))
    async def send() -> None:
        seen.append(1)
        if len(seen) == 1:
            raise OSError("down")

    with Kit(app, now=1000.0) as kit:
        handle = send.put()
        assert [ran.outcome.name for ran in kit.drain("mail")] == ["OSError"]
        assert kit.drain("mail") == []
        kit.clock.advance(30)
        assert len(kit.drain("mail")) == 1
        assert handle.get().state == "complete"


def test_what_was_put_is_shown_when_it_is_not_what_was_meant():
    app = App("sqlite://")

    @app.task(queue="mail")
    def send(to: str) -> None: ...

    with Kit(app) as kit:
        send.put("ada")
        kit.assert_put(send, to="ada")
        with pytest.raises(AssertionError, match=r"'bob'.*there are.*'ada'"):
            kit.assert_put(send, "bob")
