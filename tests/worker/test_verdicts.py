"""What a job's code says is to become of it, and what its task says of exceptions: on threads, coroutines, processes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from stanchion import App, Cancel, Constant, Fail, Retry, Snooze, Worker
from stanchion.testing import Kit
from stanchion.worker.process.wire import decode, done, encode, outcome_of
from tests.servers import SHARED
from tests.worker import verdict_tasks


@pytest.fixture
def app() -> App:
    return App("sqlite://")


def raising(app: App, error: BaseException, **options: Any) -> Any:
    @app.task(name="task", backoff=Constant(100.0), **options)
    def task() -> None:
        raise error

    return task


def test_retry_costs_one_and_waits_as_asked(app: App) -> None:
    task = raising(app, Retry("the other side is down", delay=7.0), retries=2)
    with Kit(app, now=1000.0) as kit:
        handle = task.put()
        kit.drain()
        job = handle.get()
        assert (job.state, job.due, job.remaining) == ("scheduled", 1007.0, 1)
        assert (job.failure.group, job.failure.message) == ("default-Retry", "the other side is down")


def test_retry_without_a_delay_waits_for_the_backoff(app: App) -> None:
    task = raising(app, Retry(), retries=1)
    with Kit(app, now=1000.0) as kit:
        handle = task.put()
        kit.drain()
        assert handle.get().due == 1100.0
        kit.run_until_idle()
        assert handle.get().state == "failed"


def test_snooze_costs_nothing(app: App) -> None:
    task = raising(app, Snooze(60.0), retries=0)
    with Kit(app, now=1000.0) as kit:
        handle = task.put()
        for time in (1060.0, 1120.0, 1180.0):
            kit.drain()
            job = handle.get()
            assert (job.state, job.due, job.remaining, job.failure) == ("scheduled", time, 0, None)
            kit.clock.advance(60)


def test_fail_fails_at_once(app: App) -> None:
    task = raising(app, Fail("no such user", group="no-user"), retries=5)
    with Kit(app) as kit:
        handle = task.put()
        kit.drain()
        assert handle.get().state == "failed"
        assert (handle.get().failure.group, handle.get().failure.message) == ("no-user", "no such user")


def test_cancel_leaves_nothing(app: App) -> None:
    task = raising(app, Cancel())
    with Kit(app) as kit:
        handle = task.put()
        kit.drain()
        assert handle.get() is None
        assert kit.client.dump().jobs == {}


@pytest.mark.parametrize(
    ("options", "error", "state"),
    [
        ({"fail_on": ValueError}, ValueError("bad"), "failed"),
        ({"fail_on": (KeyError, ValueError)}, UnicodeError("bad"), "failed"),
        ({"fail_on": ValueError}, OSError("down"), "scheduled"),
        ({"retry_on": OSError}, ConnectionError("down"), "scheduled"),
        ({"retry_on": OSError}, ValueError("bad"), "failed"),
        ({"retry_on": OSError, "fail_on": PermissionError}, PermissionError("no"), "failed"),
        ({"ignore": FileNotFoundError}, FileNotFoundError("gone"), "complete"),
        ({"ignore": OSError, "fail_on": OSError}, OSError("gone"), "complete"),
        ({"retry_on": OSError, "fail_on": Exception, "ignore": Exception}, Snooze(5.0), "scheduled"),
        ({}, SystemExit(1), "scheduled"),
    ],
)
def test_exceptions_by_the_task_s_options(app: App, options: Any, error: BaseException, state: str) -> None:
    task = raising(app, error, **options)
    with Kit(app) as kit:
        handle = task.put()
        if isinstance(error, SystemExit):
            with pytest.raises(SystemExit):
                kit.drain()
            return
        kit.drain()
        assert handle.get().state == state
        if state == "failed":
            assert handle.get().failure.group == f"default-{type(error).__name__}"


@pytest.mark.parametrize("wrong", ["ValueError", ValueError("x"), (ValueError, 5), int])
def test_only_exceptions_can_be_named(app: App, wrong: Any) -> None:
    with pytest.raises(TypeError, match="fail_on must be an exception class"):
        app.task(fail_on=wrong)(lambda: None)


def test_options_of_exceptions_are_the_task_s_not_the_call_s(app: App) -> None:
    task = raising(app, ValueError())
    with pytest.raises(TypeError, match="ignore is the same for all calls"):
        task.options(ignore=ValueError)


def test_verdicts_come_out_of_coroutines(app: App) -> None:
    @app.task
    async def later() -> None:
        await asyncio.sleep(0)
        raise Snooze(5.0)

    with Kit(app, now=1000.0) as kit:
        handle = later.put()
        kit.drain()
        assert handle.get().due == 1005.0


def test_verdicts_travel_from_a_process() -> None:
    for error in (Retry("r", delay=3.0), Snooze(4.0), Fail("f", group="g"), Cancel("c"), ValueError("v")):
        from_child = verdict_tasks.raised(error)
        assert outcome_of(decode(encode(done(from_child, 5)))) == from_child  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "valkey"])
def test_verdicts_in_processes(kind: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db?durability=fast" if kind == "sqlite" else SHARED.url("valkey")
    app = verdict_tasks.app
    app.use(url)
    jids = {name: verdict_tasks.raising.put(name).jid for name in verdict_tasks.ERRORS}
    assert Worker(app, ["default=process:1"]).run(burst=True) == len(jids)
    found = {name: app.client.jobs.get(jid) for name, jid in jids.items()}
    assert found["cancel"] == ()
    states = {name: jobs[0].state for name, jobs in found.items() if jobs}
    assert states == {"retry": "scheduled", "snooze": "scheduled", "fail": "failed", "bad": "failed", "gone": "complete"}
    assert found["snooze"][0].remaining == 5
    assert found["fail"][0].failure is not None
    assert found["fail"][0].failure.group == "mine"
    app.close()
    SHARED.remove()
