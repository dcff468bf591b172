"""The kit: puts stay in memory, the clock is turned by hand, jobs run when the test says."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stanchion import App, current_job
from stanchion.rules.backoff import Constant
from stanchion.testing import Endless, Kit
from stanchion.worker.active import LeaseLost
from stanchion.worker.outcome import Raised, Returned, Settled


@pytest.fixture
def app(tmp_path: Path) -> App:
    return App(f"sqlite:///{tmp_path}/jobs.db")


@pytest.fixture
def seen() -> list[Any]:
    return []


def sender(app: App, seen: list[Any], **options: Any) -> Any:
    @app.task(queue="mail", name="send", **options)
    def send(to: str) -> str:
        seen.append(to)
        return to

    return send


def test_a_delayed_job_runs_once_its_time_has_come(app: App, seen: list[Any], tmp_path: Path) -> None:
    send = sender(app, seen, delay=60)
    with Kit(app, now=1000.0) as kit:
        handle = send.put("ada")
        assert kit.drain() == []
        kit.clock.advance(60)
        assert [ran.outcome for ran in kit.drain()] == [Returned("ada")]
        assert handle.result() == "ada"
        with pytest.raises(ValueError, match="only goes forward"):
            kit.clock.advance(-1)
    assert seen == ["ada"]
    assert not (tmp_path / "jobs.db").exists()


def test_all_queues_are_drained_or_one(app: App, seen: list[Any]) -> None:
    send = sender(app, seen)
    with Kit(app) as kit:
        send.put("a")
        send.options(queue="slow").put("b")
        assert len(kit.drain("slow")) == 1
        assert len(kit.drain()) == 1
    assert seen == ["b", "a"]


def test_an_endless_loop_is_stopped_and_the_job_named(app: App) -> None:
    @app.task(queue="mail")
    def again() -> None:
        again.put()

    with Kit(app) as kit:
        again.put()
        with pytest.raises(Endless, match=r"5 jobs ran.*again"):
            kit.drain(limit=5)


def test_the_app_has_its_own_store_back_whatever_it_was_told(app: App, seen: list[Any], tmp_path: Path) -> None:
    send = sender(app, seen)
    with Kit(app) as kit:
        app.close()
        app.use(f"sqlite:///{tmp_path}/other.db")
        send.put("a")
        assert len(kit.drain()) == 1
        with pytest.raises(RuntimeError, match="another client already"), Kit(app):
            pass
    assert app.client.url == f"sqlite:///{tmp_path}/other.db"
    assert app.client.jobs.complete() == ()
    app.close()


def test_everything_happens_at_the_clock_s_time(app: App, seen: list[Any]) -> None:
    send = sender(app, seen)
    with Kit(app, now=1000.0) as kit:
        app.put_many([send.job("a"), send.job("b")])
        app.client.run_many([send.job("c")])
        assert {job.ready_at for job in app.client.dump().jobs.values()} == {1000.0}
        kit.clock.advance(5)
        kit.drain()
        assert app.client.queues["mail"].stats().wait.mean == 5


def test_a_job_that_raises_is_tried_again_when_its_backoff_is_over(app: App, seen: list[Any]) -> None:
    @app.task(queue="mail", retries=1, backoff=Constant(30.0))
    async def send() -> None:
        seen.append(kit.clock.now)
        if len(seen) == 1:
            raise OSError("down")

    with Kit(app, now=1000.0) as kit:
        handle = send.put()
        (first,) = kit.drain()
        assert isinstance(first.outcome, Raised)
        assert isinstance(first.error, OSError)
        assert kit.drain() == []
        assert len(kit.run_until_idle()) == 1
        assert seen == [1000.0, 1030.0]
        assert handle.get().state == "complete"


def test_jobs_are_run_until_nothing_is_left(app: App, seen: list[Any]) -> None:
    @app.task(queue="mail")
    def remind(times: int) -> None:
        seen.append(kit.clock.now)
        if times > 1:
            remind.options(delay=3600).put(times - 1)

    with Kit(app, now=0.0) as kit:
        remind.put(3)
        assert len(kit.run_until_idle()) == 3
        assert seen == [0.0, 3600.0, 7200.0]
        remind.put(100)
        with pytest.raises(Endless):
            kit.run_until_idle(limit=10)


def test_recurring_jobs_run_as_far_as_the_clock_is_turned(app: App, seen: list[Any]) -> None:
    sender(app, seen)
    with Kit(app, now=1000.0) as kit:
        app.client.queues["mail"].recur("send", {"args": ["a"], "kwargs": {}}, interval=60.0, jid="r")
        kit.clock.advance(150)
        assert len(kit.drain()) == 3


def test_coroutines_run_on_the_loop_that_runs(app: App, seen: list[Any]) -> None:
    @app.task(queue="mail")
    async def send() -> None:
        await asyncio.sleep(0)
        seen.append(asyncio.get_running_loop())

    async def main() -> None:
        with Kit(app) as kit:
            await send.aput()
            assert len(await kit.drain_async()) == 1
            assert seen == [asyncio.get_running_loop()]

    asyncio.run(main())


def test_what_was_put_is_shown_when_it_is_not_what_was_meant(app: App, seen: list[Any]) -> None:
    send = sender(app, seen)
    with Kit(app) as kit:
        kit.assert_not_put(send)
        with pytest.raises(AssertionError, match=r"with \('ada'\); it was put with nothing"):
            kit.assert_put(send, "ada")
        send.put("ada")
        send.put("bob")
        kit.drain()
        assert len(kit.puts(send)) == 2
        kit.assert_put(send, to="ada")
        with pytest.raises(AssertionError, match=r"with \('eve'\); it was put with \('ada'\), \('bob'\)"):
            kit.assert_put(send, "eve")
        with pytest.raises(AssertionError, match="send was put with"):
            kit.assert_not_put(send)


def test_inline_a_put_runs_in_its_caller(app: App, seen: list[Any]) -> None:
    @app.task(queue="mail")
    def fail(to: str) -> None:
        raise OSError(f"no mail for {to}")

    send = sender(app, seen)
    with Kit(app) as kit:
        with kit.inline():
            assert send.put("ada").result() == "ada"
            assert seen == ["ada"]
            send.options(delay=5).put("later")
            with pytest.raises(OSError, match="no mail for bob"):
                fail.put("bob")
        send.put("not yet")
        assert seen == ["ada"]


def test_a_worker_that_dies_lets_the_job_run_again(app: App, seen: list[Any]) -> None:
    send = sender(app, seen)
    with Kit(app) as kit:
        handle = send.put("ada")
        assert kit.die_after_run("mail").outcome == Returned("ada")
        assert handle.get().state == "running"
        (again,) = kit.drain()
        assert again.job.attempt == 2
        assert handle.get().state == "complete"
        with pytest.raises(LookupError, match="'mail'"):
            kit.die_after_run("mail")
    assert seen == ["ada", "ada"]


def test_code_that_lost_its_lease_cannot_change_the_job(app: App, seen: list[Any]) -> None:
    @app.task(queue="mail")
    def send() -> None:
        seen.append(current_job().attempt)
        current_job().log("sent")

    with Kit(app) as kit:
        handle = send.put()
        ran = kit.lose_lease("mail")
        assert ran.outcome == Settled()
        assert isinstance(ran.error, LeaseLost)
        assert handle.get().attempt == 2
        assert [one.job.attempt for one in kit.run_until_idle()] == [3]
    assert seen == [1, 3]


def test_a_job_may_be_delivered_twice(app: App, seen: list[Any]) -> None:
    send = sender(app, seen)
    with Kit(app) as kit:
        handle = send.put("ada")
        first, second = kit.deliver_twice("mail")
        assert (first.job.attempt, second.job.attempt) == (1, 2)
        assert handle.get().state == "complete"
    assert seen == ["ada", "ada"]


def test_a_test_that_fails_inside_a_job_fails(app: App) -> None:
    @app.task(queue="mail")
    def check() -> None:
        pytest.fail("seen from here")

    with Kit(app) as kit:
        check.put()
        with pytest.raises(pytest.fail.Exception, match="seen from here"):
            kit.drain()


def test_classes_in_the_style_of_qless_and_jobs_without_code(app: App, seen: list[Any]) -> None:
    @app.register
    class Mail:
        @staticmethod
        def process(job: Any) -> None:
            seen.append(job.jid)

    with Kit(app) as kit:
        app.client.queues["mail"].put(Mail.__module__ + "." + Mail.__qualname__, jid="a")
        app.client.queues["mail"].put("nobody.knows", jid="b")
        kit.drain()
        assert seen == ["a"]
        assert app.client.jobs.get("b")[0].failure.group == "unknown-klass"


def test_other_threads_may_put(app: App, seen: list[Any]) -> None:
    send = sender(app, seen)
    with Kit(app) as kit:
        threads = [threading.Thread(target=send.put, args=(str(number),)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(kit.drain()) == 8


def test_the_fixture(app: App, seen: list[Any], stanchion_kit: Callable[..., Kit]) -> None:
    send = sender(app, seen)
    kit = stanchion_kit(app, now=5.0)
    send.put("ada")
    assert kit.clock.now == 5.0
    assert len(kit.drain()) == 1


@pytest.mark.asyncio
async def test_the_fixture_in_a_coroutine(app: App, seen: list[Any], stanchion_kit: Callable[..., Kit]) -> None:
    send = sender(app, seen)
    kit = stanchion_kit(app)
    await send.aput("ada")
    assert len(await kit.drain_async()) == 1
