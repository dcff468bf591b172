"""Idle workers sleep on the server, are woken one for each put, and leave it alone meanwhile."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stanchion import commands as c
from stanchion.client.open import open_async_engine, open_engine
from tests.servers import SHARED


@pytest.fixture
def url() -> Iterator[str]:
    yield SHARED.url("valkey")
    SHARED.remove()


@pytest.fixture
def engine(url: str) -> Iterator[Any]:
    with open_engine(url) as engine:  # type: ignore[attr-defined]
        yield engine


def blocked(count: int) -> None:
    """Wait until so many clients sleep on the server."""
    SHARED.get("valkey").until(lambda client: client.info("clients")["blocked_clients"] == count)


def pop_when_woken(engine: Any) -> Any:
    """As a worker does: a marker may be left from a job that is gone, or is not due yet."""
    while not (jobs := engine.run(c.Pop("q", "w"))):
        assert engine.wait(["q"], 5.0)
    return jobs[0]


def test_one_put_wakes_one_sleeper(engine: Any) -> None:
    with ThreadPoolExecutor(5) as threads:
        sleepers = [threads.submit(engine.wait, ["q"], 3.0) for _ in range(5)]
        blocked(5)
        engine.run(c.Put("q", "a", "k"))
        blocked(4)
        assert [job.jid for job in engine.run(c.Pop("q", "w"))] == ["a"]
        engine.run(c.PutMany([c.Put("q", f"b{number}", "k") for number in range(4)]))
        assert [sleeper.result() for sleeper in sleepers] == [True] * 5


def test_a_put_for_another_queue_wakes_nobody(engine: Any) -> None:
    with ThreadPoolExecutor(1) as threads:
        sleeper = threads.submit(engine.wait, ["q"], 0.5)
        blocked(1)
        engine.run(c.Put("other", "a", "k"))
        assert sleeper.result() is False


def test_what_becomes_due_wakes(engine: Any) -> None:
    engine.run(c.Put("q", "a", "k", delay=0.3))
    start = time.monotonic()
    assert pop_when_woken(engine).jid == "a"
    assert 0.2 < time.monotonic() - start < 2.0


def test_what_becomes_due_wakes_one_sleeper(engine: Any) -> None:
    engine.run(c.Put("q", "a", "k", delay=2.0))
    engine.wait(["q"], 0.1)  # takes the marker of that put
    with ThreadPoolExecutor(20) as threads:
        sleepers = [threads.submit(engine.wait, ["q"], 30.0) for _ in range(20)]
        blocked(20)
        SHARED.get("valkey").until(lambda client: client.info("clients")["blocked_clients"] == 19)
        assert [job.jid for job in engine.run(c.Pop("q", "w"))] == ["a"]
        # The one that woke is busy now. Whoever wakes for the next takes this one's part.
        engine.run(c.Put("q", "b", "k", delay=1.0))
        SHARED.get("valkey").until(lambda client: client.info("clients")["blocked_clients"] <= 18)
        assert sum(sleeper.done() for sleeper in sleepers) <= 4
        engine.run(c.PutMany([c.Put("q", f"c{number}", "k") for number in range(20)]))
        assert [sleeper.result() for sleeper in sleepers] == [True] * 20


def test_a_sleeper_that_is_gone_is_followed_by_another(engine: Any, url: str) -> None:
    engine.run(c.Put("q", "a", "k", delay=1.5))
    with open_engine(url) as gone:  # type: ignore[attr-defined]
        gone.wait(["q"], 0.1)  # takes the marker of that put
        assert gone._seconds_until_work(("q",), 30.0) < 1.5
    start = time.monotonic()
    assert pop_when_woken(engine).jid == "a"
    assert time.monotonic() - start < 10.0


def test_an_earlier_job_is_noticed_while_asleep(engine: Any) -> None:
    engine.run(c.Put("q", "late", "k", delay=60.0))
    engine.wait(["q"], 0.1)  # takes the marker of that put
    with ThreadPoolExecutor(1) as threads:
        sleeper = threads.submit(engine.wait, ["q"], 5.0)
        blocked(1)
        engine.run(c.Put("q", "soon", "k", delay=0.2))
        start = time.monotonic()
        assert sleeper.result()
        assert pop_when_woken(engine).jid == "soon"
        assert time.monotonic() - start < 2.0


def test_a_lapsing_lock_wakes(engine: Any) -> None:
    engine.run(c.SetConfig("heartbeat", 0.3))
    engine.run(c.SetConfig("grace-period", 0))
    engine.run(c.Put("q", "a", "k"))
    engine.run(c.Pop("q", "gone"))
    assert pop_when_woken(engine).attempt == 2


def test_a_paused_queue_wakes_nobody_until_it_goes_on(engine: Any) -> None:
    engine.run(c.Pause(("q",)))
    engine.run(c.Put("q", "a", "k"))
    engine.run(c.Pop("q", "w"))
    with ThreadPoolExecutor(1) as threads:
        sleeper = threads.submit(engine.wait, ["q"], 5.0)
        engine.run(c.Unpause(("q",)))
        assert sleeper.result()


def test_a_sleeper_leaves_the_server_alone(engine: Any) -> None:
    engine.wait(["q"], 0.01)  # the first call has to prepare
    with SHARED.get("valkey").client() as client:
        client.config_resetstat()
        assert not engine.wait(["q"], 3.0)
        calls = {name: one["calls"] for name, one in client.info("commandstats").items()}
    assert calls["cmdstat_fcall_ro"] + calls["cmdstat_blpop"] <= 3


def test_awaited(url: str) -> None:
    async def main() -> None:
        async with open_async_engine(url) as engine:
            sleeper = asyncio.create_task(engine.wait(["q"], 5.0))
            await asyncio.to_thread(blocked, 1)
            await engine.run(c.Put("q", "a", "k"))
            assert await sleeper
            canceled = asyncio.create_task(engine.wait(["empty"], 5.0))
            await asyncio.to_thread(blocked, 1)
            canceled.cancel()
            await asyncio.to_thread(blocked, 0)
            assert len(await engine.run(c.Pop("q", "w"))) == 1

    asyncio.run(main())


def test_a_sleeper_outlives_a_restart(engine: Any) -> None:
    server = SHARED.get("valkey")
    woken = threading.Event()

    def sleep() -> None:
        while not engine.run(c.Pop("q", "w")):
            engine.wait(["q"], 5.0)
        woken.set()

    sleeper = threading.Thread(target=sleep, daemon=True)
    sleeper.start()
    blocked(1)
    server.kill()
    server.start()
    engine.run(c.Put("q", "a", "k"))
    assert woken.wait(6.0)
