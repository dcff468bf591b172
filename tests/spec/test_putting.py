"""Section 4: putting and moving."""

from __future__ import annotations

import pytest

from stanchion import commands as c
from stanchion.errors import BadArgument, HasDependents, JobNotFound, JobNotRunning, LockLost
from stanchion.records import QueueCounts
from tests.spec.rig import Rig, spec


@spec("put.reply", "put.defaults", "put.history", "put.known")
def test_a_new_job(q: Rig) -> None:
    assert q.put("a") == "a"
    job = q.job("a")
    assert (job.priority, job.tags, job.retries, job.remaining, job.throttles) == (0, (), 5, 5, ())
    assert q.history("a") == ["put"]
    assert [counts.name for counts in q.run(c.AllCounts())] == ["q"]


@spec("put.inherit")
def test_an_existing_job_keeps_what_is_not_given(q: Rig) -> None:
    q.put("a", priority=3, tags=["t"], retries=2, throttles=["th"])
    q.put("a")
    job = q.job("a")
    assert (job.priority, job.tags, job.retries, job.throttles) == (3, ("t",), 2, ())
    q.put("a", priority=0, tags=[], retries=0)
    job = q.job("a")
    assert (job.priority, job.tags, job.retries) == (0, (), 0)


@spec("put.renew", "put.leaves-queue", "put.leaves-worker", "fault.15")
def test_a_running_job_put_again_is_renewed_elsewhere(q: Rig) -> None:
    q.put("a", 0, data="1")
    q.pop(1)
    q.retry("a", 2)
    q.pop(3)
    q.put("a", 4, queue="r", klass="other", data="2")
    job = q.job("a")
    assert (job.queue, job.klass, job.data, job.remaining, job.state) == ("r", "other", "2", 5, "waiting")
    assert q.run(c.Length("q")) == 0
    assert q.run(c.JobsOfWorker("w")).jobs == ()
    with q.refused(JobNotRunning):
        q.complete("a")


@spec("put.lock-lost", "put.same-worker")
def test_the_worker_that_loses_the_job_hears_of_it(q: Rig) -> None:
    for _ in range(2):
        q.put("a")
        q.pop()
    with q.events("w:w") as heard:
        q.put("a", worker="w")
        q.pop()
    assert heard == []
    with q.events("w:w", "log") as heard:
        q.put("a", worker="another")
    lost = {"event": "lock_lost", "jid": "a", "worker": "w"}
    assert heard == [("log", {"event": "put", "jid": "a", "queue": "q"}), ("w:w", lost), ("log", lost)]


@spec("put.leaves-complete", "put.leaves-failed")
def test_a_finished_job_put_again_leaves_its_list(q: Rig) -> None:
    q.put("a")
    q.pop()
    q.complete("a")
    assert q.jobs("complete", None) == ("a",)
    q.put("a")
    assert q.jobs("complete", None) == ()
    q.pop()
    q.fail("a")
    q.put("a")
    assert q.run(c.FailureGroups()) == {}


@spec("put.leaves-tags")
def test_replaced_tags_leave_the_index(q: Rig) -> None:
    q.put("a", tags=["old", "both"])
    q.put("a", tags=["both", "new"])
    assert [q.run(c.Tagged(tag)).jobs for tag in ("old", "both", "new")] == [(), ("a",), ("a",)]


@spec("put.depends-replace", "put.depends-kept", "put.depends-existing")
def test_dependencies_of_a_job_put_again(q: Rig) -> None:
    for jid in ("x", "y", "done"):
        q.put(jid, queue=jid)
    q.pop(queue="done")
    q.complete("done", queue="done")
    q.put("a", depends=["x", "done", "nobody"])
    assert q.job("a").dependencies == ("x",)
    q.put("a")
    assert (q.state("a"), q.job("a").dependencies) == ("depends", ("x",))
    q.put("a", depends=["y"])
    assert q.job("a").dependencies == ("y",)
    assert q.job("x").dependents == ()
    q.put("b", depends=["done", "nobody"])
    assert q.state("b") == "waiting"


@spec("put.if-absent")
def test_if_absent_leaves_an_existing_job_alone(q: Rig) -> None:
    q.put("a", 0, if_absent=True)
    q.pop(1)
    before = q.job("a")
    assert q.put("a", 2, queue="r", data="[]", if_absent=True) == "a"
    assert q.job("a") == before
    q.complete("a", 3)
    q.put("a", 4, if_absent=True)
    assert q.state("a") == "complete"


@spec("put-many.atomic")
def test_put_many_is_all_or_nothing(q: Rig) -> None:
    assert q.run(c.PutMany([c.Put("q", jid, "k") for jid in "cab"])) == ("c", "a", "b")
    assert q.pop(count=3) == ["c", "a", "b"]
    circle = [c.Put("q", "x", "k"), c.Put("q", "y", "k", depends=["x"]), c.Put("q", "x", "k", depends=["y"])]
    with q.refused(BadArgument, "puts[2]", "x → y → x"):
        q.run(c.PutMany(circle))


@spec("requeue.exists")
def test_requeue_keeps_what_is_left_out(q: Rig) -> None:
    q.put("a", data="[1]", klass="kk", priority=3, tags=["t"], retries=2, throttles=["th"], on_dependency_failure="run")
    q.run(c.Requeue("r", "a"))
    job = q.job("a")
    assert (job.queue, job.klass, job.data, job.priority, job.tags) == ("r", "kk", "[1]", 3, ("t",))
    assert (job.retries, job.throttles, job.on_dependency_failure) == (2, ("th",), "run")


@spec("requeue.missing")
def test_requeue_of_an_unknown_job_is_an_error(q: Rig) -> None:
    with q.refused(JobNotFound, "nobody"):
        q.run(c.Requeue("q", "nobody"))


@spec("unfail.oldest", "unfail.reply", "unfail.group-gone")
def test_unfail_moves_the_longest_failed_first(q: Rig) -> None:
    for n, jid in enumerate("abc"):
        q.put(jid, n, retries=4)
        q.pop(n)
        q.fail(jid, 10 - n)
    assert q.run(c.Unfail("r", "g", 2), 20) == 2
    assert q.run(c.FailureGroups()) == {"g": 1}
    assert q.pop(queue="r", count=5) == ["c", "b"]
    assert q.job("c").remaining == 4
    assert q.run(c.Unfail("r", "g")) == 1
    assert q.run(c.FailureGroups()) == {}
    assert q.run(c.Unfail("r", "g")) == 0


@spec("cancel.reply")
def test_cancel_tells_what_it_removed(q: Rig) -> None:
    q.put("a")
    q.put("b")
    assert q.run(c.Cancel(["b", "nobody", "a"])) == ("b", "a")
    assert q.run(c.Cancel(["b"])) == ()


@spec("cancel.traces")
@pytest.mark.parametrize("state", ["waiting", "scheduled", "depends", "throttled", "running", "stalled", "failed"])
def test_nothing_is_left_of_a_canceled_job(q: Rig, state: str) -> None:
    q.run(c.SetThrottle("t", 1))
    q.put("other", 0, queue="o", throttles=["t"])
    if state == "throttled":
        q.pop(0, queue="o")
    before = q.dump()
    q.put(
        "a",
        0,
        tags=["x"],
        throttles=["t"],
        delay=9 if state == "scheduled" else 0,
        depends=["other"] if state == "depends" else [],
    )
    if state in ("running", "stalled", "failed"):
        q.pop(0)
    if state == "stalled":
        q.run(c.Timeout(["a"]))
    if state == "failed":
        q.fail("a")
    q.run(c.Track("a"))
    assert q.state("a") == state
    q.run(c.Cancel(["a"]))
    after = q.dump()
    assert (after.jobs, after.tags, after.failures, after.tracked, after.throttles) == (
        before.jobs,
        before.tags,
        before.failures,
        before.tracked,
        before.throttles,
    )
    assert all(worker.jobs in ((), ("other",)) for worker in after.workers.values())
    assert q.counts() == QueueCounts("q")


@spec("cancel.dependents")
def test_a_job_goes_only_together_with_its_dependents(q: Rig) -> None:
    q.put("a")
    q.put("b", depends=["a"])
    q.put("c", depends=["b"])
    with q.refused(HasDependents, "a", "b"):
        q.run(c.Cancel(["a"]))
    with q.refused(HasDependents, "b", "c"):
        q.run(c.Cancel(["a", "b"]))
    assert q.run(c.Cancel(["a", "b", "c"])) == ("a", "b", "c")


@spec("cancel.running")
def test_the_worker_of_a_canceled_job_hears_of_it(q: Rig) -> None:
    q.put("a")
    q.pop()
    with q.events("w:w") as heard:
        q.run(c.Cancel(["a"]))
    assert heard == [("w:w", {"event": "canceled", "jid": "a", "worker": "w", "queue": "q"})]
    with q.refused(JobNotFound):
        q.complete("a")


@spec("cancel.complete", "fault.28")
def test_a_complete_job_is_removed_like_any_other(q: Rig) -> None:
    q.put("a")
    q.pop()
    q.complete("a")
    assert q.run(c.Cancel(["a"])) == ("a",)
    assert q.gone("a")
    assert q.jobs("complete", None) == ()


@spec("timeout.lock")
def test_timeout_takes_the_lock_and_says_so(q: Rig) -> None:
    q.put("a")
    q.pop()
    with q.events("w:w") as heard:
        q.run(c.Timeout(["a"]))
    assert heard == [("w:w", {"event": "lock_lost", "jid": "a", "worker": "w"})]
    assert q.history("a") == ["put", "popped", "timed-out"]
    q.pop(worker="v")
    with q.refused(LockLost):
        q.complete("a")


@spec("timeout.checks")
def test_timeout_of_what_does_not_run_is_an_error(q: Rig) -> None:
    q.put("a")
    q.put("b")
    q.pop()
    with q.refused(JobNotRunning, "b", "waiting"):
        q.run(c.Timeout(["a", "b"]))
    with q.refused(JobNotFound, "nobody"):
        q.run(c.Timeout(["a", "nobody"]))
