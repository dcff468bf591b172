"""run_many: several commands in few transactions, each atomic by itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import commands as c
from stanchion.engine.sqlite.aio import AsyncSQLiteEngine
from stanchion.engine.sqlite.engine import SQLiteEngine
from stanchion.engine.sqlite.handlers import HANDLERS
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.engine.sqlite.work import CHUNK
from stanchion.errors import BadArgument, JobNotFound, JobNotRunning, StoreClosed

NOW = 1_700_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def engine(path: Path) -> Iterator[SQLiteEngine]:
    with SQLiteEngine(f"sqlite:///{path}") as engine:
        yield engine


def test_replies_come_in_order_and_an_error_stops_no_other(engine: SQLiteEngine) -> None:
    commands = [
        c.Put("q", "a", "K"),
        c.Complete("a", "worker", "q"),
        c.Pop("q", "worker"),
        c.Log("nobody", "noted"),
        c.Complete("a", "worker", "q"),
        c.Get("a"),
    ]
    put, early, pop, log, complete, get = engine.run_many(commands, now=NOW)
    assert put.reply == "a"
    assert isinstance(early.error, JobNotRunning)
    assert [job.jid for job in pop.reply] == ["a"]
    assert isinstance(log.error, JobNotFound)
    assert complete.reply == "complete"
    assert get.reply.state == "complete"


def test_a_failed_part_leaves_nothing(engine: SQLiteEngine) -> None:
    engine.run(c.Put("q", "a", "K"), now=NOW)
    many = c.CompleteMany([c.Complete("a", "worker", "q"), c.Complete("b", "worker", "q")])
    with engine.subscribe(["*"]) as events:
        popped, failed, counts = engine.run_many([c.Pop("q", "worker"), many, c.Counts("q")], now=NOW)
        assert len(popped.reply) == 1
        assert failed.error is not None
        assert counts.reply.running == 1
        assert events.get(timeout=0) is None
    assert engine.check(now=NOW) == []


def test_what_was_read_of_an_undone_change_is_forgotten(engine: SQLiteEngine) -> None:
    """The configuration is read once for a whole transaction: not with a change that does not stand."""

    def change_and_fail(tx: Transaction) -> None:
        HANDLERS[c.SetConfig](tx, c.SetConfig("heartbeat", 5))
        HANDLERS[c.GetConfig](tx, c.GetConfig("heartbeat"))
        HANDLERS[c.Log](tx, c.Log("nobody", "noted"))

    def work(tx: Transaction) -> object:
        with pytest.raises(JobNotFound):
            tx.part(change_and_fail)
        return HANDLERS[c.GetConfig](tx, c.GetConfig("heartbeat"))

    assert engine.shared.get().run(work, now=NOW) == 60


def test_any_number_of_commands(engine: SQLiteEngine) -> None:
    outcomes = engine.run_many([c.Put("q", f"{n}", "K") for n in range(1203)], now=NOW)
    assert [outcome.reply for outcome in outcomes] == [f"{n}" for n in range(1203)]
    assert engine.run(c.Length("q"), now=NOW) == 1203
    assert engine.run_many([], now=NOW) == []


def test_a_record_that_cannot_be_read_stops_no_other_command(path: Path, engine: SQLiteEngine) -> None:
    engine.run(c.Put("q", "broken", "K", tags=("x",)), now=NOW)
    engine.run(c.Put("q", "sound", "K"), now=NOW)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE jobs SET tags = '[' WHERE jid = 'broken'")
    connection.close()
    broken, sound = engine.run_many([c.AddTags("broken", ("y",)), c.AddTags("sound", ("y",))], now=NOW)
    assert (broken.reply, sound.reply) == (("y",), ("y",))


def test_what_concerns_them_all_is_raised(engine: SQLiteEngine) -> None:
    engine.close()
    with pytest.raises(StoreClosed):
        engine.run_many([c.Put("q", "a", "K")], now=NOW)


class Interrupted(list[c.Command[Any]]):
    """Commands of which the second part is only asked for once the engine was closed."""

    def __init__(self, close: Callable[[], None]) -> None:
        super().__init__(c.Put("q", f"{n}", "K") for n in range(CHUNK + 3))
        self._close = close

    def __getitem__(self, part: Any) -> Any:
        if part.start:
            self._close()
        return super().__getitem__(part)


def test_what_ran_before_such_an_error_is_told(engine: SQLiteEngine) -> None:
    store = engine.shared.get()
    outcomes = engine.run_many(Interrupted(store.close), now=NOW)
    assert [outcome.reply for outcome in outcomes[:CHUNK]] == [f"{n}" for n in range(CHUNK)]
    assert [type(outcome.error) for outcome in outcomes[CHUNK:]] == [StoreClosed] * 3


async def test_what_ran_before_such_an_error_is_told_to_those_who_await(path: Path) -> None:
    async with AsyncSQLiteEngine(f"sqlite:///{path}?durability=fast") as engine:
        with SQLiteEngine(f"sqlite:///{path}?durability=fast") as other:
            outcomes = await engine.run_many(Interrupted(other.shared.get().close), now=NOW)
        assert len([outcome for outcome in outcomes if outcome.error is None]) == CHUNK
        assert [type(outcome.error) for outcome in outcomes[CHUNK:]] == [StoreClosed] * 3


@pytest.mark.parametrize("now", [float("nan"), float("inf"), "soon", True])
def test_a_time_that_is_none_is_refused(engine: SQLiteEngine, now: float) -> None:
    for call in (
        lambda: engine.run(c.Put("q", "a", "K"), now=now),
        lambda: engine.run_many([c.Put("q", "a", "K")], now=now),
        lambda: engine.dump(now=now),
        lambda: engine.check(now=now),
    ):
        with pytest.raises(BadArgument) as refused:
            call()
        assert refused.value.details["argument"] == "now"
    assert engine.run(c.Get("a"), now=NOW) is None
