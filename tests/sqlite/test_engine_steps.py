"""What is done in bounded steps gets done: by the commands that follow, to the last one, by its own policy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stanchion import commands as c
from stanchion.engine.sqlite.engine import SQLiteEngine
from stanchion.engine.sqlite.handlers.dependents import STEP
from stanchion.engine.sqlite.handlers.next_time import seconds_until_work
from stanchion.records import DependencyPolicy

pytestmark = pytest.mark.slow

NOW = 1_700_000_000.0
MORE = STEP + 200


@pytest.fixture
def engine() -> Iterator[SQLiteEngine]:
    with SQLiteEngine("sqlite://") as engine:
        engine.run(c.Put("q", "root", "K"), now=NOW)
        yield engine


def put_dependents(engine: SQLiteEngine, policy: DependencyPolicy, many: int = MORE) -> None:
    jids = (f"{policy}-{n}" for n in range(many))
    puts = [c.Put("later", jid, "K", depends=("root",), on_dependency_failure=policy) for jid in jids]
    engine.run(c.PutMany(puts), now=NOW)


def fail_root(engine: SQLiteEngine) -> None:
    engine.run(c.Pop("q", "w"), now=NOW)
    engine.run(c.Fail("root", "w", "oops", "it broke"), now=NOW)


def waiting(engine: SQLiteEngine) -> int:
    assert engine.check(now=NOW) == []
    return engine.run(c.Counts("later"), now=NOW).waiting


def test_dependents_of_a_completed_job_are_released_by_the_commands_that_follow(engine: SQLiteEngine) -> None:
    put_dependents(engine, "wait", 2 * MORE)
    engine.run(c.Pop("q", "w"), now=NOW)
    engine.run(c.Complete("root", "w", "q"), now=NOW)
    released = waiting(engine)
    assert STEP <= released < 2 * MORE
    # Whoever would sleep on any queue is to do the rest.
    assert engine.shared.get().read(lambda tx: seconds_until_work(tx, ["q"]), now=NOW) <= 0
    for _ in range(3):
        engine.run(c.Pop("q", "w"), now=NOW)
    assert waiting(engine) == 2 * MORE
    assert engine.shared.get().read(lambda tx: seconds_until_work(tx, ["q"]), now=NOW) > 0


def test_those_that_wait_patiently_for_a_failed_job_hide_no_other(engine: SQLiteEngine) -> None:
    put_dependents(engine, "wait")
    put_dependents(engine, "run", 3)
    fail_root(engine)
    assert waiting(engine) == 3
    assert engine.run(c.Unfail("q", "oops"), now=NOW) == 1
    assert engine.run(c.Get("root"), now=NOW).state == "waiting"  # type: ignore[union-attr]
    assert engine.run(c.Counts("later"), now=NOW).depends == MORE


def test_a_failed_job_that_is_put_again_has_told_all_before(engine: SQLiteEngine) -> None:
    put_dependents(engine, "fail", 3 * MORE)
    fail_root(engine)
    engine.run(c.Put("q", "root", "K"), now=NOW)
    assert engine.run(c.FailureGroups(), now=NOW) == {"dependency-failed": 3 * MORE}
    assert waiting(engine) == 0


def test_dependents_of_a_canceled_job_all_follow_their_own_policy(engine: SQLiteEngine) -> None:
    put_dependents(engine, "fail", 2 * MORE)
    put_dependents(engine, "run")
    put_dependents(engine, "cancel")
    assert len(engine.run(c.Cancel(("root",)), now=NOW)) == 1 + MORE
    assert engine.run(c.FailureGroups(), now=NOW) == {"dependency-failed": 2 * MORE}
    assert waiting(engine) == MORE
