"""What one command may do at once: however much there is, it does a step, and the best of all is given first."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stanchion import commands as c
from stanchion.engine.sqlite.engine import SQLiteEngine
from stanchion.engine.sqlite.handlers import dependents, schedule, taking, upkeep
from stanchion.errors import HasDependents
from stanchion.records import DependencyPolicy
from tests.spec.rig import spec

NOW = 1_700_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def engine(path: Path) -> Iterator[SQLiteEngine]:
    with SQLiteEngine(f"sqlite:///{path}?durability=fast") as engine:
        yield engine


@pytest.fixture
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same rules at a size that is quick to test."""
    monkeypatch.setattr(dependents, "STEP", 10)
    monkeypatch.setattr(schedule, "STEP", 10)
    monkeypatch.setattr(taking, "PASSED_OVER", 10)


def stored(path: Path, sql: str) -> int:
    with closing(sqlite3.connect(path)) as reader:
        return int(reader.execute(sql).fetchone()[0])


def steps_of(engine: SQLiteEngine, command: c.Command[object], now: float = NOW) -> int:
    """How many hundreds of steps of SQLite's machine a command takes."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    connection = engine.shared.get()._connection
    connection.set_progress_handler(count, 100)
    try:
        engine.run(command, now=now)
    finally:
        connection.set_progress_handler(None, 100)
    return steps


def put_dependents(engine: SQLiteEngine, on: str, jids: list[str], policy: DependencyPolicy = "wait") -> None:
    puts = [c.Put("later", jid, "k", depends=(on,), on_dependency_failure=policy) for jid in jids]
    engine.run(c.PutMany(puts), now=NOW)


@pytest.mark.usefixtures("_small_steps")
@spec("fault.14", "fault.23")
def test_of_any_number_of_due_jobs_the_best_is_popped_and_few_are_moved(engine: SQLiteEngine, path: Path) -> None:
    jobs = 40
    # The later it is due, the better it is.
    engine.run(c.PutMany([c.Put("q", f"{n}", "k", delay=1 + n, priority=n) for n in range(jobs)]), now=NOW)
    for best in range(jobs - 1, jobs - 4, -1):
        before = stored(path, "SELECT count(*) FROM jobs WHERE state = 'scheduled'")
        assert [job.jid for job in engine.run(c.Pop("q", "w"), now=NOW + 100)] == [f"{best}"]
        assert before - stored(path, "SELECT count(*) FROM jobs WHERE state = 'scheduled'") <= 11
        assert engine.check(now=NOW + 100) == []
    rest = engine.run(c.Pop("q", "w", jobs), now=NOW + 100)
    assert [job.jid for job in rest] == [f"{n}" for n in range(jobs - 4, -1, -1)]


@pytest.mark.usefixtures("_small_steps")
def test_a_peek_shows_the_best_of_any_number_of_due_jobs(engine: SQLiteEngine) -> None:
    engine.run(c.PutMany([c.Put("q", f"{n}", "k", delay=1 + n, priority=n) for n in range(40)]), now=NOW)
    assert [job.jid for job in engine.run(c.Peek("q", 3), now=NOW + 100)] == ["39", "38", "37"]


@pytest.mark.usefixtures("_small_steps")
def test_a_pop_of_many_passes_over_no_more_than_a_step_of_held_back_jobs(engine: SQLiteEngine) -> None:
    engine.run(c.Put("q", "holder", "k", throttles=["t"]), now=NOW)
    puts = [c.Put("q", f"held-{n}", "k", throttles=["t"]) for n in range(25)]
    engine.run(c.PutMany([*puts, c.Put("q", "free", "k", priority=-1)]), now=NOW)
    engine.run(c.Pop("q", "w"), now=NOW)
    engine.run(c.SetThrottle("t", 1), now=NOW)
    assert engine.run(c.Pop("q", "w", 50), now=NOW) == ()
    assert engine.run(c.Counts("q"), now=NOW).throttled == 10
    engine.run(c.Pop("q", "w", 50), now=NOW)
    assert [job.jid for job in engine.run(c.Pop("q", "w", 50), now=NOW)] == ["free"]


@pytest.mark.parametrize("verb", ["heartbeat", "complete", "fail", "retry", "timeout"])
def test_a_job_that_many_wait_for_costs_its_worker_no_more(
    engine: SQLiteEngine, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A completion releases a step of its dependents, whatever their number; the rest goes on in later commands.
    monkeypatch.setattr(dependents, "STEP", 10)
    commands: dict[str, c.Command[object]] = {
        "heartbeat": c.Heartbeat("root", "w"),
        "complete": c.Complete("root", "w", "q"),
        "fail": c.Fail("root", "w", "g", "m"),
        "retry": c.Retry("root", "q", "w"),
        "timeout": c.Timeout(("root",)),
    }
    engine.run(c.Put("q", "root", "k"), now=NOW)
    put_dependents(engine, "root", [f"{n}" for n in range(1000)])
    engine.run(c.Pop("q", "w", 2), now=NOW)
    # To fail is to look for those that do not wait patiently: a few steps for each dependent.
    assert steps_of(engine, commands[verb]) < 80


@pytest.mark.usefixtures("_small_steps")
def test_a_complete_job_can_be_canceled_before_all_its_dependents_were_told(engine: SQLiteEngine) -> None:
    engine.run(c.Put("q", "root", "k"), now=NOW)
    put_dependents(engine, "root", [f"{n}" for n in range(35)])
    engine.run(c.Pop("q", "w"), now=NOW)
    engine.run(c.Complete("root", "w", "q"), now=NOW)
    assert engine.run(c.Counts("later"), now=NOW).depends > 0
    assert engine.run(c.Cancel(("root",)), now=NOW) == ("root",)
    assert engine.run(c.Counts("later"), now=NOW).waiting == 35
    assert engine.check(now=NOW) == []


@pytest.mark.usefixtures("_small_steps")
def test_those_that_wait_for_a_failed_job_still_keep_it_from_being_canceled(engine: SQLiteEngine) -> None:
    engine.run(c.Put("q", "root", "k"), now=NOW)
    put_dependents(engine, "root", ["patient"])
    engine.run(c.Pop("q", "w"), now=NOW)
    engine.run(c.Fail("root", "w", "g", "m"), now=NOW)
    with pytest.raises(HasDependents):
        engine.run(c.Cancel(("root",)), now=NOW)


@pytest.mark.usefixtures("_small_steps")
@pytest.mark.parametrize("policy", ["fail", "cancel"])
def test_a_failure_spreads_through_a_tree_in_steps(engine: SQLiteEngine, policy: DependencyPolicy) -> None:
    engine.run(c.Put("q", "root", "k"), now=NOW)
    branches = [f"{n}" for n in range(8)]
    put_dependents(engine, "root", branches, policy)
    for branch in branches:
        put_dependents(engine, branch, [f"{branch}.{n}" for n in range(8)], policy)
    engine.run(c.Pop("q", "w"), now=NOW)
    engine.run(c.Fail("root", "w", "g", "m"), now=NOW)
    left = engine.run(c.Counts("later"), now=NOW).depends
    if policy == "fail":
        assert left > 30
    for _ in range(8):
        engine.run(c.Pop("nowhere", "w"), now=NOW)
        assert engine.check(now=NOW) == []
    assert engine.run(c.Counts("later"), now=NOW).depends == 0
    failed = 8 + 64 if policy == "fail" else 0
    assert engine.run(c.FailureGroups(), now=NOW).get("dependency-failed", 0) == failed


def test_a_pop_of_thousands_gives_each_once_and_in_order(engine: SQLiteEngine) -> None:
    jids = [f"{n}" for n in range(2500)]
    engine.run(c.PutMany([c.Put("q", jid, "k") for jid in jids]), now=NOW)
    assert [job.jid for job in engine.run(c.Pop("q", "w", 9999), now=NOW)] == jids


@spec("fault.29")
def test_old_complete_jobs_are_forgotten_by_pops_too_a_step_at_a_time(
    engine: SQLiteEngine, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "FORGOTTEN", 10)
    engine.run(c.PutMany([c.Put("q", f"{n}", "k", tags=["t"]) for n in range(25)]), now=NOW)
    for job in engine.run(c.Pop("q", "w", 25), now=NOW):
        engine.run(c.Complete(job.jid, "w", "q"), now=NOW)
    for left in (15, 5, 0):
        engine.run(c.Pop("q", "w"), now=NOW + 8 * 86400)
        assert stored(path, "SELECT count(*) FROM jobs") == left
        assert engine.check(now=NOW + 8 * 86400) == []
    assert stored(path, "SELECT count(*) FROM payloads") == stored(path, "SELECT count(*) FROM tags") == 0


def test_many_completions_at_once_forget_as_many_and_more(engine: SQLiteEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "FORGOTTEN", 2)
    engine.run(c.PutMany([c.Put("q", f"{n}", "k") for n in range(60)]), now=NOW)
    jobs = engine.run(c.Pop("q", "w", 60), now=NOW)
    engine.run(c.CompleteMany([c.Complete(job.jid, "w", "q") for job in jobs[:40]]), now=NOW)
    engine.run(c.SetConfig("jobs-history-count", 5), now=NOW)
    engine.run(c.CompleteMany([c.Complete(job.jid, "w", "q") for job in jobs[40:]]), now=NOW)
    assert len(engine.run(c.ListJobs("complete", None, count=99), now=NOW)) == 20
