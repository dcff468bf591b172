"""Subscriptions: how they end, and what they pass over."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion import commands as c
from stanchion.engine.sqlite.aio import AsyncSQLiteEngine
from stanchion.engine.sqlite.engine import SQLiteEngine
from stanchion.engine.sqlite.subscription import PAGE
from stanchion.records import Event

NOW = 1_700_000_000.0


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'jobs.db'}?durability=fast"


@pytest.fixture
def engine(url: str) -> Iterator[SQLiteEngine]:
    with SQLiteEngine(url) as engine:
        yield engine


class Listener(threading.Thread):
    """Listens until there is no more to hear."""

    def __init__(self, events: Iterator[Event]) -> None:
        super().__init__(daemon=True)
        self._events = events
        self.heard: list[str] = []
        self.start()

    def run(self) -> None:
        self.heard += [event.message for event in self._events]

    def ends(self) -> bool:
        self.join(10)
        return not self.is_alive()


def test_closing_it_ends_who_listens(engine: SQLiteEngine) -> None:
    events = engine.subscribe(["*"])
    listener = Listener(iter(events))
    events.close()
    assert listener.ends()
    assert events.get() is None


def test_closing_the_engine_ends_who_listens(engine: SQLiteEngine) -> None:
    events = engine.subscribe(["*"])
    listener = Listener(iter(events))
    engine.close()
    assert listener.ends()
    events.close()


async def test_closing_the_engine_ends_who_listens_and_awaits(url: str) -> None:
    engine = AsyncSQLiteEngine(url)
    events = await engine.subscribe(["*"])
    heard = asyncio.create_task(events.get())
    await asyncio.sleep(0.01)
    await engine.close()
    assert await asyncio.wait_for(heard, 10) is None
    await events.close()


def test_pages_of_events_for_others_are_passed_over(engine: SQLiteEngine) -> None:
    with engine.subscribe(["track"]) as tracked, engine.subscribe(["*"]) as everything:
        engine.run_many([c.Put("q", f"{n}", "K") for n in range(2 * PAGE)], now=NOW)
        engine.run(c.Track("7"), now=NOW)
        assert tracked.get(timeout=0) == Event("track", "7")
        assert tracked.get(timeout=0) is None
        assert len([everything.get(timeout=0) for _ in range(2 * PAGE + 1)]) == 2 * PAGE + 1
        assert everything.get(timeout=0) is None


def test_who_comes_later_hears_nothing_of_before(engine: SQLiteEngine) -> None:
    with engine.subscribe(["log"]):
        engine.run(c.Put("q", "a", "K"), now=NOW)
        with engine.subscribe(["log"]) as later:
            assert later.get(timeout=0) is None
            engine.run(c.Put("q", "b", "K"), now=NOW)
            heard = later.get(timeout=0)
            assert heard is not None
            assert '"jid":"b"' in heard.message


def test_a_refused_command_publishes_nothing(engine: SQLiteEngine) -> None:
    with engine.subscribe(["*"]) as events:
        engine.run_many([c.PutMany([c.Put("q", "a", "K"), c.Put("q", "b", "K", depends=("a",))])], now=NOW)
        assert [events.get(timeout=0) is None for _ in range(3)] == [False, False, True]
        (outcome,) = engine.run_many([c.Cancel(("a",))], now=NOW)
        assert outcome.error is not None
        assert events.get(timeout=0) is None
