"""What code written for qless-py relies on: each test holds for qless-py itself, and for the face on every engine."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from tests.compat.conftest import Face

pytestmark = [
    # qless-py logs in a way that Python has deprecated.
    pytest.mark.filterwarnings("ignore:The 'warn' method is deprecated:DeprecationWarning"),
]


class Work:
    """Code of a job."""

    @staticmethod
    def download(job: Any) -> None:
        job["file"] = "/tmp/a"
        job.complete("encode")

    @staticmethod
    def process(job: Any) -> None:
        job.complete()


WORK = f"{Work.__module__}.Work"


def test_what_a_job_tells(face: Face) -> None:
    q = face.client.queues["q"]
    q.put(Work, {"a": [1, 2.5, None, "é"]}, priority=3, tags=["x", "y"], retries=2, jid="one")
    job = face.client.jobs["one"]
    assert (job.jid, job.klass_name, job.queue_name, job.state, job.worker_name) == ("one", WORK, "q", "waiting", "")
    assert (job.priority, job.tags, job.original_retries, job.retries_left) == (3, ["x", "y"], 2, 2)
    assert job.data == {"a": [1, 2.5, None, "é"]}
    assert (job["a"], job["no such key"]) == ([1, 2.5, None, "é"], None)
    assert (job.tracked, job.failure, job.dependents, job.dependencies, job.expires_at) == (False, {}, [], [], 0)
    assert [(entry["what"], entry["q"], type(entry["when"])) for entry in job.history] == [("put", "q", int)]
    assert (job.queue.name, repr(job), job.client) == ("q", f"<{WORK} one>", face.client)
    assert face.client.jobs["another"] is None
    assert [one.jid for one in face.client.jobs.get("another", "one")] == ["one"]
    assert face.client.jobs.get() == []
    with pytest.raises(AttributeError):
        _ = job.no_such_attribute


def test_a_put_takes_what_it_is_not_told_away(face: Face) -> None:
    q = face.client.queues["q"]
    q.put("k", {}, jid="one", priority=3, tags=["x"], retries=2)
    assert q.put("k", None, jid="one", retries=0) == "one"
    job = face.client.jobs["one"]
    assert (job.priority, job.tags, job.original_retries, job.data) == (0, [], 5, None)


def test_pop_and_peek_give_one_or_a_list(face: Face) -> None:
    q = face.client.queues["q"]
    assert (q.pop(), q.peek(), q.pop(5), q.peek(5)) == (None, None, [], [])
    for jid in "abc":
        q.put("k", {}, jid=jid)
    assert q.peek().jid == "a"
    assert [job.jid for job in q.peek(2)] == ["a", "b"]
    job = q.pop()
    assert (job.jid, job.state, job.worker_name) == ("a", "running", "w")
    assert 50 < job.ttl <= 60
    assert job.expires_at == pytest.approx(time.time() + 60, abs=10)
    assert [job.jid for job in q.pop(2)] == ["b", "c"]
    assert q.jobs.running() == ["a", "b", "c"]
    assert q.jobs.running(1, 1) == ["b"]


def test_a_job_goes_from_queue_to_queue(face: Face) -> None:
    face.client.queues["a"].put("k", {"n": 1}, jid="one")
    job = face.client.queues["a"].pop()
    job["n"] = 2
    assert job.complete("b") == "waiting"
    job = face.client.queues["b"].pop()
    assert job.data == {"n": 2}
    assert job.complete("c", delay=60) == "scheduled"
    assert face.client.queues["c"].jobs.scheduled() == ["one"]
    assert face.client.jobs["one"].move("d") == "one"
    face.client.queues["d"].put("k", {}, jid="two", delay=60)
    job = face.client.queues["d"].pop()
    assert job.complete("e", depends=["two"]) == "depends"
    assert face.client.jobs["two"].dependents == ["one"]
    assert face.client.jobs["one"].undepend("two")
    assert face.client.queues["e"].pop().complete() == "complete"
    job = face.client.jobs["one"]
    assert (job.state, job.queue_name, job.worker_name) == ("complete", "", "")
    assert face.client.jobs.complete() == ["one"]


def test_a_job_that_depends_on_others(face: Face) -> None:
    q = face.client.queues["q"]
    for jid in "ab":
        q.put("k", {}, jid=jid)
    q.put("k", {}, jid="last", depends=["a"])
    last = face.client.jobs["last"]
    assert (last.state, last.dependencies) == ("depends", ["a"])
    assert last.depend("b") == True  # noqa: E712 - qless-py gives 1
    assert sorted(face.client.jobs["last"].dependencies) == ["a", "b"]
    with pytest.raises(face.qless.QlessException):
        face.client.jobs["a"].cancel()
    assert last.undepend(all=True) == True  # noqa: E712
    assert face.client.jobs["last"].state == "waiting"
    assert face.client.jobs["a"].cancel() == ["a"]


def test_failing_and_unfailing(face: Face) -> None:
    q = face.client.queues["q"]
    for jid in "ab":
        q.put("k", {}, jid=jid)
        job = q.pop()
        job["seen"] = True
        assert job.fail("broken", "it broke") == jid
    assert face.client.jobs.failed() == {"broken": 2}
    page = face.client.jobs.failed("broken", 0, 1)
    assert (page["total"], [job.jid for job in page["jobs"]]) == (2, ["b"])
    job = face.client.jobs["a"]
    assert (job.state, job["seen"]) == ("failed", True)
    assert (job.failure["group"], job.failure["message"], job.failure["worker"]) == ("broken", "it broke", "w")
    assert type(job.failure["when"]) is int
    assert face.client.unfail("broken", "again", 1) == 1
    assert face.client.jobs["a"].queue_name == "again"
    assert face.client.unfail("broken", "again") == 1
    assert len(face.client.queues["again"]) == 2


def test_retrying(face: Face) -> None:
    q = face.client.queues["q"]
    q.put("k", {}, jid="one", retries=1)
    assert q.pop().retry(60) == 0
    assert face.client.jobs["one"].state == "scheduled"
    face.client.jobs["one"].move("q")
    assert q.pop().retry(group="sad", message="it was sad") == 0
    job = face.client.jobs["one"]
    assert (job.state, job.retries_left, job.failure["group"]) == ("waiting", 0, "sad")
    assert q.pop().retry() == -1
    assert face.client.jobs.failed() == {"failed-retries-q": 1}


def test_heartbeats_and_lost_locks(face: Face) -> None:
    q = face.client.queues["q"]
    assert q.heartbeat == 60
    q.heartbeat = 120
    assert (q.heartbeat, face.client.queues["other"].heartbeat) == (120, 60)
    q.put("k", {}, jid="one")
    job = q.pop()
    job["far"] = 1
    face.client.config["q-heartbeat"] = 240
    expires = job.heartbeat()
    assert expires == job.expires_at == pytest.approx(time.time() + 240, abs=10)
    assert face.client.jobs["one"]["far"] == 1
    assert face.client.jobs["one"].timeout() is None
    assert face.client.jobs["one"].state == "stalled"
    with pytest.raises(face.qless.QlessException):
        job.complete()
    with pytest.raises(lost(face)):
        job.heartbeat()
    other = face.other("x")
    assert other.queues["q"].pop().jid == "one"
    with pytest.raises(lost(face), match="one"):
        job.heartbeat()
    for settle in (job.complete, lambda: job.fail("g", "m"), job.retry):
        with pytest.raises(face.qless.QlessException):
            settle()
    with pytest.raises(lost(face)):
        face.client.jobs["one"].heartbeat()
    assert other.jobs["one"].complete() == "complete"


def test_tags_and_tracked_jobs(face: Face) -> None:
    q = face.client.queues["q"]
    for jid in "ab":
        q.put("k", {}, jid=jid, tags=["x"])
    assert face.client.jobs["a"].tag("y", "x") == '["x","y"]'
    assert face.client.jobs["a"].untag("y") == '["x"]'
    assert list(face.client.tags()) == ["x"]
    assert face.client.jobs.tagged("x") == {"total": 2, "jobs": ["a", "b"]}
    assert face.client.jobs.tagged("x", 1, 1) == {"total": 2, "jobs": ["b"]}
    assert [face.client.track("a"), face.client.track("a"), face.client.jobs["b"].track()] == ["1", "0", "1"]
    assert face.client.jobs["a"].tracked
    face.client.jobs["b"].cancel()
    tracked = face.client.jobs.tracked()
    assert [job.jid for job in tracked["jobs"]] == ["a"]
    assert [face.client.untrack("a"), face.client.jobs["a"].untrack()] == ["1", "0"]


def test_priorities(face: Face) -> None:
    q = face.client.queues["q"]
    for jid in "ab":
        q.put("k", {}, jid=jid)
    job = face.client.jobs["b"]
    job.priority = 7
    assert (job.priority, face.client.jobs["b"].priority, q.peek().jid) == (7, 7, "b")


def test_recurring_jobs(face: Face) -> None:
    q = face.client.queues["q"]
    before = time.time()
    assert q.recur(Work, {"n": 1}, 60, offset=30, priority=2, tags=["x"], retries=3, jid="tick") == "tick"
    job = face.client.jobs["tick"]
    assert type(job) is face.qless.RecurringJob
    assert (job.jid, job.klass_name, job.queue_name, job.data, job.count) == ("tick", WORK, "q", {"n": 1}, 0)
    assert (job.priority, job.tags, job.retries, job.interval, job.queue.name) == (2, ["x"], 3, 60, "q")
    assert 30 <= job.next - before < 40
    assert q.jobs.recurring() == ["tick"]
    job.priority, job.retries, job.interval, job.data = 4, 1, 30, {"n": 2}
    assert (job.priority, job.retries, job.interval, job.data) == (4, 1, 30, {"n": 2})
    assert job.tag("y") == '["x","y"]'
    assert job.untag("x") == '["y"]'
    job.move("r")
    job = face.client.jobs["tick"]
    assert (job.priority, job.retries, job.interval, job.data, job.tags) == (4, 1, 30, {"n": 2}, ["y"])
    assert job.queue_name == "r"
    q.recur("k", {}, 60, jid="now")
    spawned = q.pop()
    assert (spawned.jid, spawned.original_retries, face.client.jobs["now"].count) == ("now-1", 5, 1)
    assert job.cancel() is None
    assert face.client.jobs["tick"] is None


def test_what_queues_and_workers_tell(face: Face) -> None:
    client = face.client
    q = client.queues["q"]
    for jid in "abc":
        q.put("k", {}, jid=jid)
    q.put("k", {}, jid="later", delay=60)
    q.put("k", {}, jid="waits", depends=["a"])
    q.recur("k", {}, 60, offset=60, jid="tick")
    q.pop()
    counts = {"running": 1, "waiting": 2, "scheduled": 1, "depends": 1, "recurring": 1, "stalled": 0, "paused": False}
    assert q.counts == {"name": "q", **counts}
    assert client.queues.counts == [{"name": "q", **counts}]
    assert len(q) == 4
    assert (q.jobs.scheduled(), q.jobs.depends(), q.jobs.stalled()) == (["later"], ["waits"], [])
    assert client.workers.counts == [{"name": "w", "jobs": 1, "stalled": 0}]
    assert client.workers["w"] == {"jobs": ["a"], "stalled": []}
    assert client.workers["nobody"] == {"jobs": [], "stalled": []}
    q.pause()
    assert (q.counts["paused"], q.pop()) == (True, None)
    q.unpause()
    assert q.pop().jid == "b"
    stats = q.stats()
    assert sorted(stats) == ["failed", "failures", "retries", "run", "wait"]
    assert (stats["wait"]["count"], stats["run"]["count"], len(stats["wait"]["histogram"])) == (2, 0, 148)
    assert q.stats(1.0)["wait"]["count"] == 0
    assert (q.class_string(Work), q.class_string("k"), q.name, q.worker_name) == (WORK, "k", "q", "w")


def test_configuration(face: Face) -> None:
    config = face.client.config
    assert (config["heartbeat"], config.get("heartbeat"), config["unknown"], config.get("unknown", 5)) == (60, 60, None, 5)
    config["heartbeat"] = 30
    config.update({"grace-period": 5}, application="7")
    assert (config["heartbeat"], config["grace-period"], int(config.all["heartbeat"])) == (30, 5, 30)
    assert "heartbeat" in config
    assert "unknown" not in config
    assert set(config) == set(config.keys()) == set(config.all)
    assert len(config) == len(config.items()) == len(config.values())
    assert config.pop("heartbeat") == 30
    assert config["heartbeat"] == 60
    del config["grace-period"]
    config["heartbeat"] = 15
    config.clear()
    assert (config["heartbeat"], config["grace-period"]) == (60, 10)


def test_refusals(face: Face) -> None:
    q = face.client.queues["q"]
    refused = face.qless.QlessException
    q.put("k", {}, jid="one")
    job = face.client.jobs["one"]
    with pytest.raises(refused, match="running"):
        job.complete()
    with pytest.raises(refused):
        job.retry()
    with pytest.raises(refused, match="does not exist"):
        face.client.track("nobody")
    with pytest.raises(refused, match="depends"):
        job.depend("two")
    with pytest.raises(refused):
        face.client.jobs["one"].timeout()


def test_a_job_runs_itself(face: Face) -> None:
    if face.kind != "qless-py":
        face.qless.register(Work)
    face.client.queues["download"].put(Work, {})
    job = face.client.queues["download"].pop()
    assert job.klass is Work
    job.process()
    job = face.client.queues["encode"].pop()
    assert job["file"] == "/tmp/a"
    job.process()
    assert face.client.jobs[job.jid].state == "complete"


class Trouble:
    """Code of jobs that do not end well."""

    def raises(job: Any) -> None:
        raise KeyError("no such thing")

    @classmethod
    def bound(cls, job: Any) -> None: ...


@pytest.mark.parametrize(
    ("queue", "group", "message"),
    [
        ("raises", "raises-KeyError", "no such thing"),
        ("bound", "bound-method-type", "is not static"),
        ("nothing", "nothing-method-missing", "has no method|is missing a method"),
    ],
)
def test_what_does_not_end_well_fails_for_good(face: Face, queue: str, group: str, message: str) -> None:
    if face.kind != "qless-py":
        face.qless.register(Trouble)
    face.client.queues[queue].put(Trouble, {})
    face.client.queues[queue].pop().process()
    (job,) = face.client.jobs.failed(group)["jobs"]

    assert re.search(message, job.failure["message"])


def test_the_retry_decorator(face: Face) -> None:
    retry = face.qless.retry

    @retry(KeyError, ValueError)
    def tries(job: Any) -> None:
        raise {"key": KeyError, "type": TypeError}[job["raise"]]("told")

    q = face.client.queues["q"]
    q.put("k", {"raise": "key"}, jid="one")
    tries(q.pop())
    job = q.pop()
    assert job.retries_left == 4
    job["raise"] = "type"
    with pytest.raises(TypeError):
        tries(job)
    assert tries.__name__ == "tries"


def lost(face: Face) -> type[Exception]:
    if face.kind == "qless-py":
        from qless.exceptions import LostLockException

        return LostLockException  # type: ignore[no-any-return]
    return face.qless.LostLockException  # type: ignore[no-any-return]
