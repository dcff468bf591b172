"""Section 4: pop and peek."""

from __future__ import annotations

import pytest

from stanchion import commands as c
from tests.spec.rig import Rig, spec


@spec("pop.reply", "pop.zero", "peek.zero")
def test_pop_gives_up_to_count_jobs(q: Rig) -> None:
    for jid in "abc":
        q.put(jid)
    assert q.pop(count=0) == []
    assert q.peek(count=0) == []
    assert q.pop(count=2) == ["a", "b"]
    assert q.pop(count=2) == ["c"]
    assert q.pop(count=2) == []


@spec("pop.worker")
def test_pop_notes_the_worker(q: Rig) -> None:
    q.pop(5, worker="idle")
    assert [(worker.name, worker.seen) for worker in q.run(c.AllWorkers())] == [("idle", 5.0)]


@spec("pop.paused", "pause.takes-puts")
def test_a_paused_queue_takes_but_does_not_give(q: Rig) -> None:
    q.run(c.Pause(["q"]))
    q.put("a")
    assert q.pop() == []
    assert q.counts().paused
    q.run(c.Unpause(["q"]))
    assert q.pop() == ["a"]


@spec("pop.concurrency")
def test_max_concurrency_limits_the_running_ones(q: Rig) -> None:
    q.config("q-max-concurrency", 2)
    for jid in "abc":
        q.put(jid)
        q.put(f"other-{jid}", queue="free")
    assert q.pop(count=5) == ["a", "b"]
    assert q.pop(count=5) == []
    assert len(q.pop(count=5, queue="free")) == 3
    q.complete("a")
    assert q.pop(count=5) == ["c"]


@spec("pop.order", "guarantee.order")
def test_by_priority_then_by_age(q: Rig) -> None:
    for now, (jid, priority) in enumerate([("a", 0), ("b", 5), ("c", 0), ("d", -1.5), ("e", 5)]):
        q.put(jid, now, priority=priority)
    assert q.jobs("waiting") == ("b", "e", "a", "c", "d")
    assert q.peek(count=9) == ["b", "e", "a", "c", "d"]
    assert q.pop(count=9) == ["b", "e", "a", "c", "d"]


@spec("pop.fifo", "fault.12")
@pytest.mark.parametrize("priority", [0, 1, -1, 1000, 10**6, 2**31])
def test_first_in_first_out_within_one_instant(q: Rig, priority: float) -> None:
    jids = [f"{n * 7919 % 101}" for n in range(100)]
    q.run(c.PutMany([c.Put("q", jid, "k", priority=priority) for jid in jids]), 1)
    assert q.pop(count=100) == jids


@spec("pop.lapsed-first")
def test_lapsed_locks_come_before_all_that_wait(q: Rig) -> None:
    q.config("grace-period", 0)
    q.put("old", 0)
    q.pop(0)
    q.put("urgent", 1, priority=100)
    assert q.pop(61, worker="v", count=2) == ["old", "urgent"]


@spec("pop.due", "fault.23")
def test_due_jobs_stand_in_line_with_the_rest(q: Rig) -> None:
    for n in range(20):
        q.put(f"low-{n}", 0, delay=n + 1)
    q.put("waiting", 10, priority=1)
    q.put("high", 10, priority=2, delay=50)
    q.put("later", 10, priority=3, delay=500)
    q.put("between", 11)
    q.now = 100
    assert q.pop(count=4) == ["high", "waiting", "low-0", "low-1"]
    rest = [f"low-{n}" for n in range(2, 11)] + ["between"] + [f"low-{n}" for n in range(11, 20)]
    assert q.pop(count=9) == rest[:9]
    # low-10 came due at 11, when "between" was put: who was put first goes first.
    assert q.pop(count=99) == rest[9:]


@spec("pop.recurring", "peek.spawns")
def test_recurring_jobs_stand_in_line_with_the_rest(q: Rig) -> None:
    q.run(c.Recur("q", "r", "k", "{}", 10.0, priority=1), 0)
    q.put("a", 0, priority=2)
    q.put("b", 0)
    assert q.run(c.GetRecurring("r")).count == 0
    assert q.peek(5, count=9) == ["a", "r-1", "b"]
    assert q.run(c.GetRecurring("r")).count == 1
    assert q.pop(5, count=9) == ["a", "r-1", "b"]


@spec("pop.expires")
def test_how_long_a_lock_lasts(q: Rig) -> None:
    q.config("heartbeat", 30)
    q.config("slow-heartbeat", 300)
    q.put("a", 0)
    q.put("b", 0, queue="slow")
    assert q.pop_jobs(10)[0].expires == 40.0
    assert q.pop_jobs(10, queue="slow")[0].expires == 310.0


@spec("peek.same")
def test_peek_locks_nothing(q: Rig) -> None:
    q.put("held", 0)
    q.pop(0)
    q.put("b", 1, priority=9)
    q.put("c", 1, delay=5)
    assert q.peek(2, count=9) == ["b"]
    assert q.peek(60, count=9) == ["held", "b", "c"]
    assert q.peek(60, count=2) == ["held", "b"]
    assert (q.state("held"), q.state("b"), q.job("held").worker) == ("running", "waiting", "w")


@spec("guarantee.one-holder")
def test_a_held_job_is_given_to_nobody_else(q: Rig) -> None:
    q.put("a", 0)
    q.pop(0)
    for now in range(0, 60, 5):
        assert q.pop(now, worker="v", count=5) == []
        assert q.peek(now, count=5) == []
    q.beat("a", 59)
    assert q.pop(118, worker="v", count=5) == []
