"""wait: a sleeper wakes when its queues have something to pop, at once or when the time comes, and for nothing else."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stanchion import commands as c
from stanchion.engine.sqlite.engine import SQLiteEngine
from stanchion.engine.sqlite.handlers.next_time import seconds_until_work

NOW = 1_700_000_000.0
LONG = 30.0


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'jobs.db'}"


@pytest.fixture
def engine(url: str) -> Iterator[SQLiteEngine]:
    with SQLiteEngine(url) as engine:
        yield engine


def until_work(engine: SQLiteEngine, now: float, *queues: str) -> float:
    """Seconds that a sleeper would sleep at most."""
    return engine.shared.get().read(lambda tx: seconds_until_work(tx, queues or ("q",)), now=now)


class Sleeper:
    """A thread that waits; ``woken`` tells what it was told, once it was."""

    def __init__(self, wait: Callable[[], bool]) -> None:
        self._wait = wait
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._woken = self._wait()

    def woken(self) -> bool:
        self._thread.join(LONG)
        assert not self._thread.is_alive()
        return self._woken

    def sleeps(self) -> bool:
        return self._thread.is_alive()


def test_a_job_that_is_there_is_no_reason_to_sleep(engine: SQLiteEngine) -> None:
    assert not engine.wait(["q"], 0)
    engine.run(c.Put("q", "a", "K"))
    assert engine.wait(["other", "q"], LONG)
    assert not engine.wait(["other"], 0.01)
    assert not engine.wait([], 0.01)


def test_a_put_wakes_who_sleeps_on_that_queue_and_nobody_else(engine: SQLiteEngine) -> None:
    mine, other = (Sleeper(lambda queue=queue: engine.wait([queue], LONG)) for queue in ("q", "other"))  # type: ignore[misc]
    engine.run(c.Put("q", "a", "K"))
    assert mine.woken()
    assert other.sleeps()
    engine.run(c.Put("other", "b", "K"))
    assert other.woken()


def test_a_put_of_another_process_wakes_too(engine: SQLiteEngine, url: str) -> None:
    sleeper = Sleeper(lambda: engine.wait(["q"], LONG))
    put = "import sys; from stanchion import commands as c; from stanchion.engine.sqlite.engine import SQLiteEngine;"
    put += " SQLiteEngine(sys.argv[1]).run(c.Put('q', 'a', 'K'))"
    subprocess.run([sys.executable, "-c", put, url], check=True)
    assert sleeper.woken()


def test_a_timeout_of_any_length(engine: SQLiteEngine) -> None:
    sleeper = Sleeper(lambda: engine.wait(["q"], float("inf"), since=engine.ticket()))
    engine.run(c.Put("q", "a", "K"))
    assert sleeper.woken()


def test_a_sleeper_wakes_when_a_scheduled_job_is_due(engine: SQLiteEngine) -> None:
    start = time.monotonic()
    engine.run(c.Put("q", "a", "K", delay=0.1))
    assert engine.wait(["q"], LONG)
    assert 0.05 < time.monotonic() - start < LONG / 2
    assert len(engine.run(c.Pop("q", "w"))) == 1


def test_what_comes_next_decides_how_long_to_sleep(engine: SQLiteEngine) -> None:
    assert until_work(engine, NOW) == float("inf")
    engine.run(c.Recur("q", "r", "K", "{}", 60.0, offset=50), now=NOW)
    assert until_work(engine, NOW) == 50
    engine.run(c.Put("q", "a", "K", delay=40), now=NOW)
    assert until_work(engine, NOW) == 40
    engine.run(c.Put("q", "b", "K"), now=NOW)
    engine.run(c.SetConfig("heartbeat", 30), now=NOW)
    assert len(engine.run(c.Pop("q", "w"), now=NOW)) == 1
    assert until_work(engine, NOW) == 30  # b's lock may lapse
    engine.run(c.Pause(("q",)), now=NOW)
    assert until_work(engine, NOW) == float("inf")


def test_a_queue_at_its_limit_has_nothing_to_give_until_a_lock_lapses(engine: SQLiteEngine) -> None:
    engine.run(c.SetConfig("q-max-concurrency", 1), now=NOW)
    for jid in ("a", "b"):
        engine.run(c.Put("q", jid, "K"), now=NOW)
    assert len(engine.run(c.Pop("q", "w", 5), now=NOW)) == 1
    assert until_work(engine, NOW) == 60
    engine.run(c.Complete("a", "w", "q"), now=NOW)
    assert until_work(engine, NOW) <= 0


def test_a_throttled_job_can_be_popped_when_a_place_frees_or_the_limit_ends(engine: SQLiteEngine) -> None:
    engine.run(c.SetThrottle("narrow", 1, expiration=20), now=NOW)
    for jid in ("a", "b", "c"):
        engine.run(c.Put("q", jid, "K", throttles=("narrow",)), now=NOW)
    assert len(engine.run(c.Pop("q", "w", 5), now=NOW)) == 1
    assert until_work(engine, NOW) == 20
    engine.run(c.Complete("a", "w", "q"), now=NOW)
    assert until_work(engine, NOW) <= 0
    assert len(engine.run(c.Pop("q", "w", 5), now=NOW)) == 1
    assert until_work(engine, NOW + 20) <= 0
    assert len(engine.run(c.Pop("q", "w", 5), now=NOW + 20)) == 1
