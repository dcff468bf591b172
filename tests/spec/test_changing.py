"""Section 4: changing a job, queues and workers."""

from __future__ import annotations

import pytest

from stanchion import commands as c
from stanchion.errors import JobNotDepending, JobNotFound, LockLost
from stanchion.records import HistoryEntry, JobPage, QueueCounts, WorkerCounts, WorkerJobs
from tests.spec.rig import Rig, spec


@spec("get.reply", "fault.11")
def test_get_and_multiget(q: Rig) -> None:
    q.put("a")
    q.put("b")
    assert q.run(c.Get("nobody")) is None
    assert [job.jid for job in q.run(c.MultiGet(["b", "nobody", "a"]))] == ["b", "a"]
    assert q.run(c.MultiGet([])) == ()
    job = q.job("a")
    assert (job.tags, job.dependencies, job.dependents, job.throttles) == ((), (), (), ())


@spec("priority.keeps-age", "fault.2")
def test_a_changed_priority_keeps_the_age(q: Rig) -> None:
    for now, jid in enumerate("abc"):
        q.put(jid, now, priority=5 if jid != "b" else 0)
    assert q.run(c.SetPriority("b", 5)) == 5
    assert q.pop(count=3) == ["a", "b", "c"]
    with q.refused(JobNotFound):
        q.run(c.SetPriority("nobody", 1))


@spec("tag.add", "tag.remove")
def test_tags_come_and_go(q: Rig) -> None:
    q.put("a", tags=["x"])
    assert q.run(c.AddTags("a", ["y", "x", "y"])) == ("x", "y")
    assert q.run(c.RemoveTags("a", ["x", "z"])) == ("y",)
    assert q.job("a").tags == ("y",)
    with q.refused(JobNotFound):
        q.run(c.AddTags("nobody", ["x"]))


@spec("tag.get", "tag.top")
def test_jobs_by_tag(q: Rig) -> None:
    for n in range(5):
        q.put(f"j{n}", tags=["all", f"only-{n}", *(["few"] if n > 2 else [])])
    assert q.run(c.Tagged("all")) == JobPage(5, ("j0", "j1", "j2", "j3", "j4"))
    assert q.run(c.Tagged("all", 1, 2)) == JobPage(5, ("j1", "j2"))
    assert q.run(c.Tagged("none")) == JobPage(0, ())
    assert q.run(c.TopTags()) == ("all", "few")
    assert q.run(c.TopTags(1, 5)) == ("few",)


@spec("depend.on", "depend.off")
def test_dependencies_change_while_a_job_depends(q: Rig) -> None:
    for jid in ("x", "y", "z"):
        q.put(jid, 0, queue=jid)
    q.put("a", 0, depends=["x"])
    q.put("b", 0, depends=["x", "y"], delay=100)
    assert q.run(c.Depend("a", ["y", "z", "nobody"])) is True
    assert q.job("a").dependencies == ("x", "y", "z")
    assert q.run(c.Undepend("a", ["x", "y", "nobody"])) is True
    assert (q.state("a"), q.job("a").dependencies) == ("depends", ("z",))
    q.run(c.Undepend("a", ["z"]), 5)
    assert (q.state("a"), q.job("a").ready_at) == ("waiting", 5.0)
    q.run(c.Undepend("b"), 6)
    assert (q.state("b"), q.job("b").due) == ("scheduled", 100.0)
    for command in (c.Depend("a", ["x"]), c.Undepend("a")):
        with q.refused(JobNotDepending, "a", "waiting"):
            q.run(command)


@spec("track.list")
def test_tracked_jobs(q: Rig) -> None:
    q.put("a")
    q.put("b")
    assert (q.run(c.Track("a")), q.run(c.Track("a")), q.run(c.Track("b"))) == (True, False, True)
    q.pop()
    q.complete("a")
    q.config("jobs-history-count", 0)
    q.pop()
    q.complete("b")
    found = q.run(c.Tracked())
    assert ([job.jid for job in found.jobs], sorted(found.expired)) == ([], ["a", "b"])
    assert (q.run(c.Untrack("a")), q.run(c.Untrack("a"))) == (True, False)


@spec("log.entry")
def test_log_adds_to_the_history(q: Rig) -> None:
    q.put("a", 0)
    q.run(c.Log("a", "halfway", '{"done": 50, "what": "ignored"}'), 3)
    assert q.job("a").history[-1] == HistoryEntry("halfway", 3.0, {"done": 50})
    with q.refused(JobNotFound):
        q.run(c.Log("nobody", "x"))


@spec("queues.counts", "queues.stalled", "queues.length")
def test_counts(q: Rig) -> None:
    q.run(c.SetThrottle("t", 1))
    q.put("dep", 0, queue="o", throttles=["t"])
    q.pop(0, queue="o")
    for jid in ("lapsed", "held"):
        q.put(jid, 0)
    q.pop(0)
    q.pop(50)
    q.put("waits", 50)
    q.put("later", 50, delay=100)
    q.put("depends", 50, depends=["dep"])
    q.put("throttled", 50, throttles=["t"])
    q.run(c.Recur("q", "r", "k", "{}", 1000.0, 1000.0))
    q.run(c.Pause(["q"]))
    q.now = 60
    expected = QueueCounts(
        "q", waiting=1, running=1, stalled=1, scheduled=1, depends=1, throttled=1, recurring=1, paused=True
    )
    assert q.counts() == expected
    assert [counts.name for counts in q.run(c.AllCounts())] == ["o", "q"]
    assert q.run(c.AllCounts())[1] == expected
    assert q.run(c.Length("q")) == 4
    assert q.counts("unknown") == QueueCounts("unknown")


@spec("jobs.states", "fault.14")
def test_listings(q: Rig) -> None:
    q.put("dep", 0, queue="o")
    for n in range(3):
        q.put(f"run-{n}", 0)
        q.pop(n)
    q.put("w", 5)
    for n in range(3):
        q.put(f"later-{n}", 5, delay=100 - n)
        q.put(f"dep-{n}", 5, depends=["dep"])
    q.run(c.Recur("q", "r", "k", "{}", 500.0, 500.0))
    q.run(c.Pause(["q"]))
    q.now = 60
    assert q.jobs("waiting") == ("w",)
    assert q.jobs("stalled") == ("run-0",)
    assert q.jobs("running") == ("run-1", "run-2")
    assert q.jobs("scheduled") == ("later-2", "later-1", "later-0")
    assert q.jobs("scheduled", offset=1, count=1) == ("later-1",)
    assert q.jobs("depends") == ("dep-0", "dep-1", "dep-2")
    assert q.jobs("recurring") == ("r",)
    assert q.jobs("throttled") == ()


@spec("jobs.complete")
def test_complete_jobs_newest_first(q: Rig) -> None:
    for now, jid in enumerate("abc"):
        q.put(jid, now)
        q.pop(now)
        q.complete(jid, now)
    assert q.jobs("complete", None) == ("c", "b", "a")
    assert q.jobs("complete", None, offset=1, count=1) == ("b",)


@spec("failed.groups", "failed.page")
def test_failed_jobs_by_group(q: Rig) -> None:
    for now, group in enumerate(["x", "y", "x", "x"]):
        q.put(f"j{now}", now)
        q.pop(now)
        q.fail(f"j{now}", now, group=group)
    assert q.run(c.FailureGroups()) == {"x": 3, "y": 1}
    assert q.run(c.Failed("x")) == JobPage(3, ("j3", "j2", "j0"))
    assert q.run(c.Failed("x", 1, 1)) == JobPage(3, ("j2",))
    assert q.run(c.Failed("none")) == JobPage(0, ())


@spec("forget.only-known")
def test_a_forgotten_queue_comes_back_with_the_next_put(q: Rig) -> None:
    q.put("a")
    q.run(c.ForgetQueues(["q", "nobody"]))
    assert q.run(c.AllCounts()) == ()
    assert q.counts().waiting == 1
    q.put("b")
    assert q.counts().waiting == 2
    assert len(q.run(c.AllCounts())) == 1


@spec("workers.list", "workers.jobs", "workers.deregister", "fault.29")
def test_workers(q: Rig) -> None:
    for jid in "abc":
        q.put(jid, 0)
    q.pop(0, worker="old")
    q.pop(50, worker="new", count=2)
    q.now = 60
    assert q.run(c.AllWorkers()) == (WorkerCounts("new", 2, 0, 50.0), WorkerCounts("old", 0, 1, 0.0))
    assert q.run(c.JobsOfWorker("old")) == WorkerJobs((), ("a",))
    assert sorted(q.run(c.JobsOfWorker("new")).jobs) == ["b", "c"]
    assert q.run(c.JobsOfWorker("nobody")) == WorkerJobs()
    assert q.run(c.Deregister(["old", "nobody"])) == 1
    assert [worker.name for worker in q.run(c.AllWorkers())] == ["new"]
    assert [worker.name for worker in q.run(c.AllWorkers(), 86450)] == ["new"]
    assert q.run(c.AllWorkers(), 86451) == ()


@spec("guarantee.fencing")
@pytest.mark.parametrize("end", ["complete", "fail", "retry", "heartbeat"])
def test_who_lost_the_lock_can_do_nothing(q: Rig, end: str) -> None:
    q.config("grace-period", 0)
    q.put("a", 0)
    q.pop(0)
    assert q.pop(61, worker="v") == ["a"]
    commands = {
        "complete": c.Complete("a", "w", "q"),
        "fail": c.Fail("a", "w", "g", "m"),
        "retry": c.Retry("a", "q", "w"),
        "heartbeat": c.Heartbeat("a", "w"),
    }
    with q.refused(LockLost):
        q.run(commands[end])
