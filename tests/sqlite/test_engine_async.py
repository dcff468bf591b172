"""The engine for callers that await."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stanchion import commands as c
from stanchion.engine.sqlite.aio import AsyncSQLiteEngine
from stanchion.engine.sqlite.engine import SQLiteEngine
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.errors import BadArgument, JobNotFound, OutcomeUnknown, StoreBusy, StoreClosed

NOW = 1_700_000_000.0


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'jobs.db'}"


@pytest.fixture
async def engine(url: str) -> AsyncIterator[AsyncSQLiteEngine]:
    async with AsyncSQLiteEngine(url) as engine:
        yield engine


class Holder:
    """Holds the store's turn in a thread of its own, until told to let go: a slow transaction of somebody else."""

    def __init__(self, url: str) -> None:
        self._engine = SQLiteEngine(url)
        self._holds, self._ends = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._engine.shared.get().run, args=(self._hold,))

    def _hold(self, tx: Transaction) -> None:
        self._holds.set()
        self._ends.wait(30)

    def __enter__(self) -> Holder:
        self._thread.start()
        assert self._holds.wait(30)
        return self

    def let_go(self) -> None:
        self._ends.set()
        self._thread.join()

    def __exit__(self, *exc: object) -> None:
        self.let_go()
        self._engine.close()


async def test_it_does_what_the_other_does(engine: AsyncSQLiteEngine, url: str) -> None:
    assert await engine.run(c.Put("q", "a", "K"), now=NOW, token="t") == "a"
    assert await engine.run(c.Put("q", "a", "K"), now=NOW, token="t") == "a"
    job = await engine.run(c.Get("a"), now=NOW)
    assert job is not None
    outcomes = await engine.run_many([c.Pop("q", "w"), c.Log("nobody", "noted"), c.Counts("q")], now=NOW)
    assert [one.jid for one in outcomes[0].reply] == ["a"]
    assert isinstance(outcomes[1].error, JobNotFound)
    assert outcomes[2].reply.running == 1
    with SQLiteEngine(url) as other:
        assert await engine.dump(now=NOW) == other.dump(now=NOW)
    assert await engine.check(now=NOW, fix=True) == []


async def test_in_memory() -> None:
    async with AsyncSQLiteEngine("sqlite://") as engine:
        await engine.run(c.Put("q", "a", "K"))
        assert await engine.run(c.Length("q")) == 1
        assert await engine.wait(["q"], 0)


@pytest.mark.slow
async def test_many_tasks_at_once(engine: AsyncSQLiteEngine) -> None:
    await asyncio.gather(*(engine.run(c.Put("q", f"{n}", "K"), now=NOW) for n in range(1000)))
    popped = await asyncio.gather(*(engine.run(c.Pop("q", f"w{n}", 10), now=NOW) for n in range(100)))
    assert len({job.jid for jobs in popped for job in jobs}) == 1000
    assert await engine.run_many([c.Put("q", f"more-{n}", "K") for n in range(1001)], now=NOW)
    assert (await engine.run(c.Counts("q"), now=NOW)).waiting == 1001


async def test_a_canceled_task_takes_its_command_back(engine: AsyncSQLiteEngine, url: str) -> None:
    with Holder(url) as holder:
        put = asyncio.create_task(engine.run(c.Put("q", "a", "K"), now=NOW))
        await asyncio.sleep(0)
        put.cancel()
        with pytest.raises(asyncio.CancelledError):
            await put
        holder.let_go()
        assert await engine.run(c.Put("q", "b", "K"), now=NOW) == "b"
        assert await engine.run(c.Get("a"), now=NOW) is None


async def test_a_command_that_gets_no_turn_in_time_did_not_happen(engine: AsyncSQLiteEngine, url: str) -> None:
    with Holder(url) as holder:
        with pytest.raises(StoreBusy):
            await engine.run(c.Put("q", "a", "K"), now=NOW, timeout=0.01)
        holder.let_go()
        assert await engine.run(c.Get("a"), now=NOW) is None


async def test_a_command_that_does_not_end_in_time_may_have_happened(engine: AsyncSQLiteEngine, url: str) -> None:
    ends = threading.Event()
    with Holder(url) as holder, SQLiteEngine(url) as other:
        put = asyncio.create_task(engine.run(c.Put("q", "a", "K"), now=NOW, timeout=0.1))
        await asyncio.sleep(0)
        # This one shares put's transaction, and keeps it from its end.
        other.shared.get().run_awaited(lambda tx: ends.wait(30), lambda _: None, now=NOW, grows=False)
        holder.let_go()
        with pytest.raises(OutcomeUnknown):
            await put
        ends.set()
        assert await engine.run(c.Put("q", "b", "K"), now=NOW) == "b"
        assert await engine.run(c.Get("a"), now=NOW) is not None


async def test_readers_do_not_wait_for_a_writer_nor_for_the_threads_of_the_program(
    engine: AsyncSQLiteEngine, url: str
) -> None:
    await engine.run(c.Put("q", "a", "K"), now=NOW)
    ends = threading.Event()
    loop = asyncio.get_running_loop()
    busy = [loop.run_in_executor(None, ends.wait, 30) for _ in range(64)]
    with Holder(url):
        assert await engine.run(c.Length("q"), now=NOW) == 1
    ends.set()
    await asyncio.gather(*busy)


async def test_any_number_of_tasks_can_sleep_and_none_needs_a_thread(engine: AsyncSQLiteEngine) -> None:
    sleepers = [asyncio.create_task(engine.wait(["q", f"q{n}"], 30)) for n in range(100)]
    for _ in range(100):
        await asyncio.sleep(0)
    before = threading.active_count()
    assert before < 20
    await engine.run(c.Put("q7", "a", "K"))
    assert await asyncio.wait_for(sleepers[7], 10)
    assert await engine.run(c.Length("q7")) == 1
    assert not any(sleeper.done() for number, sleeper in enumerate(sleepers) if number != 7)
    await engine.run(c.Put("q", "b", "K"))
    assert all(await asyncio.wait_for(asyncio.gather(*sleepers), 10))


async def test_a_sleeper_wakes_when_a_time_comes(engine: AsyncSQLiteEngine) -> None:
    start = time.monotonic()
    await engine.run(c.Put("q", "a", "K", delay=0.1))
    assert await engine.wait(["q"], 30)
    assert 0.05 < time.monotonic() - start < 10
    assert not await engine.wait(["other"], 0.01)


async def test_events_are_heard_and_none_is_lost_with_a_canceled_task(engine: AsyncSQLiteEngine) -> None:
    async with await engine.subscribe(["log"]) as events:
        waits = asyncio.create_task(events.get())
        await asyncio.sleep(0)
        waits.cancel()
        for jid in ("a", "b"):
            await engine.run(c.Put("q", jid, "K"), now=NOW)
        heard = [await events.get(10), await events.get(10)]
        assert ['"jid":"a"' in heard[0].message, '"jid":"b"' in heard[1].message] == [True, True]  # type: ignore[union-attr]
        assert await events.get(0.01) is None


async def test_closing_a_subscription_ends_who_listens(engine: AsyncSQLiteEngine) -> None:
    events = await engine.subscribe(["*"])
    heard = asyncio.create_task(_all(events))
    await asyncio.sleep(0.01)
    await engine.run(c.Put("q", "a", "K"), now=NOW)
    await events.close()
    assert await asyncio.wait_for(heard, 10) in (0, 1)


async def _all(events: AsyncIterator[object]) -> int:
    return len([event async for event in events])


async def test_closed_it_says_so_and_can_be_closed_again(url: str) -> None:
    engine = AsyncSQLiteEngine(url)
    await engine.run(c.Put("q", "a", "K"))
    await engine.close()
    await engine.close()
    for command in (c.Get("a"), c.Put("q", "b", "K")):
        with pytest.raises(StoreClosed):
            await engine.run(command)


async def test_a_time_that_is_none_is_refused(engine: AsyncSQLiteEngine) -> None:
    with pytest.raises(BadArgument):
        await engine.run(c.Put("q", "a", "K"), now=float("nan"))
    with pytest.raises(BadArgument):
        await engine.run_many([c.Put("q", "a", "K")], now=float("inf"))
