"""Section 4: complete, fail, retry, heartbeat."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import commands as c
from stanchion.errors import BadArgument, JobNotFound, JobNotRunning, LockLost, WrongQueue
from tests.spec.rig import Rig, spec

SETTLING: list[Any] = [
    lambda jid, worker: c.Complete(jid, worker, "q"),
    lambda jid, worker: c.Fail(jid, worker, "g", "m"),
    lambda jid, worker: c.Retry(jid, "q", worker),
    c.Heartbeat,
]


@spec("complete.checks", "fail.checks", "retry.checks", "heartbeat.checks")
@pytest.mark.parametrize("settle", SETTLING)
def test_only_the_holder_of_a_running_job_settles_it(q: Rig, settle: Any) -> None:
    with q.refused(JobNotFound, "a"):
        q.run(settle("a", "w"))
    q.put("a")
    with q.refused(JobNotRunning, "a", "waiting"):
        q.run(settle("a", "w"))
    q.pop()
    with q.refused(LockLost, "a", "v", "w"):
        q.run(settle("a", "v"))


@spec("complete.checks")
def test_a_job_completes_in_the_queue_it_runs_in(q: Rig) -> None:
    q.put("a")
    q.pop()
    with q.refused(WrongQueue, "a", "r", "q"):
        q.complete("a", queue="r")


@spec("complete.data", "complete.result", "complete.reply", "complete.history")
def test_complete(q: Rig) -> None:
    q.put("a", data="1")
    q.put("b", data="1")
    q.pop(count=2)
    assert q.complete("a", data="2", result='{"r":  3}') == "complete"
    q.complete("b")
    assert (q.job("a").data, q.job("a").result) == ("2", '{"r":  3}')
    assert (q.job("b").data, q.job("b").result) == ("1", None)
    assert q.history("a") == ["put", "popped", "done"]


@spec("complete.next", "complete.next-delay", "complete.next-depends")
def test_complete_with_a_next_queue(q: Rig) -> None:
    q.put("other", 0, queue="o")
    for jid in "abc":
        q.put(jid, 0, retries=3)
    q.pop(1)
    q.retry("a", 1)
    q.pop(2, count=3)
    assert q.complete("a", 3, next="r") == "waiting"
    assert q.complete("b", 3, next="r", delay=7) == "scheduled"
    assert q.complete("c", 3, next="r", depends=["other"]) == "depends"
    assert q.job("a").remaining == 3
    assert q.history("b") == ["put", "popped", "done", "put"]
    assert q.job("b").due == 10.0
    assert q.job("c").dependencies == ("other",)
    assert [counts.name for counts in q.run(c.AllCounts())] == ["o", "q", "r"]
    assert q.run(c.Length("q")) == 0


@spec("complete.only-with-next")
def test_delay_and_dependencies_go_with_a_next_queue() -> None:
    with pytest.raises(BadArgument, match="delay"):
        c.Complete("a", "w", "q", delay=5)
    with pytest.raises(BadArgument, match="depends"):
        c.Complete("a", "w", "q", depends=["b"])


@spec("complete-many.atomic")
def test_complete_many_is_all_or_nothing(q: Rig) -> None:
    for jid in "abc":
        q.put(jid)
    q.pop(count=2)
    with q.refused(BadArgument, "completes[1]", "waiting"):
        q.run(c.CompleteMany([c.Complete("a", "w", "q"), c.Complete("c", "w", "q"), c.Complete("b", "w", "q")]))
    both = [c.Complete("a", "w", "q"), c.Complete("b", "w", "q", next="r")]
    assert q.run(c.CompleteMany(both)) == ("complete", "waiting")


@spec("fail.data", "fail.reply")
def test_fail_may_bring_data(q: Rig) -> None:
    q.put("a", data="1")
    q.pop()
    assert q.run(c.Fail("a", "w", "g", "m", "2")) == "a"
    assert q.job("a").data == "2"


@spec("retry.remaining", "retry.exhausted", "fault.27")
def test_retry_counts_down_and_then_fails(q: Rig) -> None:
    q.put("a", retries=1)
    q.pop()
    assert q.retry("a") == 0
    assert q.job("a").remaining == 0
    q.pop()
    assert q.retry("a", group="mine", message="gave up") == -1
    failure = q.job("a").failure
    assert failure is not None
    assert (failure.group, failure.message, failure.worker) == ("mine", "gave up", "w")
    q.put("zero", retries=0)
    q.pop()
    assert q.retry("zero") == -1
    assert q.state("zero") == "failed"


@spec("retry.exhausted-default")
def test_the_default_group_names_the_queue(q: Rig) -> None:
    q.put("a", retries=0)
    q.pop()
    q.retry("a")
    failure = q.job("a").failure
    assert failure is not None
    assert (failure.group, failure.message) == ("failed-retries-q", 'Job exhausted retries in queue "q"')


@spec("retry.free")
def test_a_free_retry_costs_none(q: Rig) -> None:
    q.put("a", retries=0)
    for attempt in (1, 2, 3):
        (job,) = q.pop_jobs()
        assert job.attempt == attempt
        assert q.run(c.Retry("a", "q", "w", free=True)) == 0
    q.pop()
    assert q.run(c.Retry("a", "q", "w")) == -1
    q.put("endless", retries=-1)
    q.pop()
    assert q.run(c.Retry("endless", "q", "w", 5.0, free=True)) == -1
    assert q.state("endless") == "scheduled"


@spec("retry.queue", "fault.1")
def test_retry_into_another_queue(q: Rig) -> None:
    q.put("a", 0)
    q.pop(1)
    q.retry("a", 2, queue="r")
    assert (q.job("a").queue, q.run(c.Length("q")), q.run(c.Length("r"))) == ("r", 0, 1)
    assert q.pop(3, queue="r") == ["a"]
    q.complete("a", 5, queue="r")
    assert (q.stats("r").wait.count, q.stats("r").run.count, q.stats("q").run.count) == (1, 1, 0)


@spec("retry.failure")
def test_a_group_and_message_are_kept_as_the_last_failure(q: Rig) -> None:
    q.put("a", 0)
    q.pop(1)
    q.retry("a", 2, group="oops", message="once")
    failure = q.job("a").failure
    assert failure is not None
    assert (failure.group, failure.message, failure.when, failure.worker) == ("oops", "once", 2.0, "w")
    assert q.state("a") == "waiting"
    assert q.run(c.FailureGroups()) == {}
    q.pop(3)
    q.retry("a", 4)
    assert q.job("a").failure == failure


@spec("heartbeat.reply", "heartbeat.data", "heartbeat.seen")
def test_heartbeat_renews_the_lock(q: Rig) -> None:
    q.put("a", 0, data="1")
    q.pop(0)
    assert q.beat("a", 30, data="2") == 90.0
    job = q.job("a")
    assert (job.expires, job.data) == (90.0, "2")
    assert q.run(c.AllWorkers())[0].seen == 30.0
    q.beat("a", 40)
    assert q.job("a").data == "2"


@spec("attempt.fencing", "guarantee.fencing", "pop.attempt")
@pytest.mark.parametrize(
    "settle",
    [
        lambda attempt: c.Complete("a", "w", "q", attempt=attempt),
        lambda attempt: c.Fail("a", "w", "g", "m", attempt=attempt),
        lambda attempt: c.Retry("a", "q", "w", attempt=attempt),
        lambda attempt: c.Heartbeat("a", "w", attempt=attempt),
    ],
)
def test_a_late_attempt_is_refused_even_of_the_same_worker(q: Rig, settle: Any) -> None:
    q.put("a", 0)
    assert q.pop_jobs(0)[0].attempt == 1
    q.run(c.Timeout(["a"]), 1)
    assert q.pop_jobs(2)[0].attempt == 2
    with q.refused(LockLost, "attempt 2"):
        q.run(settle(1))
    q.run(settle(2))
