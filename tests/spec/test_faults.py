"""Sections 9 and 10: what other implementations get wrong, and what is guaranteed."""

from __future__ import annotations

import json

import pytest

from stanchion import commands as c
from stanchion.errors import BadArgument, DependencyCircle, HasDependents, JobNotRunning, TokenReused
from tests.spec.rig import Rig, spec


@spec("fault.6")
def test_circles_of_dependencies_are_refused(q: Rig) -> None:
    with pytest.raises(BadArgument, match="itself"):
        c.Put("q", "a", "k", depends=["a"])
    with pytest.raises(BadArgument, match="itself"):
        c.Depend("a", ["a"])
    q.put("a")
    q.put("b", depends=["a"])
    q.put("c", depends=["b"])
    with q.refused(DependencyCircle, "a → c → b → a"):
        q.put("a", depends=["c"])
    q.put("x")
    q.put("a", depends=["x"])
    with q.refused(DependencyCircle, "a → c → b → a"):
        q.run(c.Depend("a", ["c"]))
    q.put("z", queue="z")
    q.pop(queue="z")
    q.put("waits", depends=["z"])
    with q.refused(DependencyCircle, "z → waits → z"):
        q.complete("z", queue="z", next="z", depends=["waits"])


def _failed_dependency(q: Rig, policy: str, jid: str = "b") -> None:
    q.put("a", 0, queue="first")
    q.put(jid, 0, depends=["a"], on_dependency_failure=policy)
    q.pop(1, queue="first")
    q.fail("a", 2)


@spec("fault.7-wait")
def test_wait(q: Rig) -> None:
    q.put("fine", 0, queue="other")
    q.put("patient", 0, depends=["fine"])
    _failed_dependency(q, "wait")
    assert (q.state("b"), q.jobs("blocked"), q.jobs("depends")) == ("depends", ("b",), ("patient", "b"))
    q.run(c.Unfail("first", "g"), 3)
    assert q.jobs("blocked") == ()
    q.pop(4, queue="first")
    q.complete("a", 5, queue="first")
    assert q.state("b") == "waiting"


@spec("fault.7-run")
def test_run(q: Rig) -> None:
    _failed_dependency(q, "run")
    assert (q.state("b"), q.job("b").ready_at, q.job("b").dependencies) == ("waiting", 2.0, ())
    q.put("x", 3, queue="first")
    q.put("y", 3, depends=["x"], on_dependency_failure="run")
    assert q.run(c.Cancel(["x"])) == ("x",)
    assert q.state("y") == "waiting"


@spec("fault.7-fail")
def test_fail(q: Rig) -> None:
    q.put("other", 0, queue="other")
    _failed_dependency(q, "fail")
    q.put("c", 3, depends=["other"], on_dependency_failure="fail")
    failure = q.job("b").failure
    assert failure is not None
    assert (q.state("b"), failure.group, "a" in failure.message) == ("failed", "dependency-failed", True)
    q.put("d", 4, depends=["c"], on_dependency_failure="fail")
    q.run(c.Cancel(["other"]), 5)
    assert (q.state("c"), q.state("d")) == ("failed", "failed")
    q.run(c.Unfail("q", "dependency-failed"), 6)
    assert q.state("b") == "waiting"


@spec("fault.7-cancel")
def test_cancel(q: Rig) -> None:
    q.put("a", 0, queue="first")
    q.put("b", 0, depends=["a"], on_dependency_failure="cancel")
    q.put("c", 0, depends=["b"], on_dependency_failure="cancel")
    q.put("d", 0, depends=["c"], on_dependency_failure="run")
    q.pop(1, queue="first")
    q.fail("a", 2)
    assert (q.gone("b"), q.gone("c"), q.state("d")) == (True, True, "waiting")
    q.put("x", 3)
    q.put("y", 3, depends=["x"], on_dependency_failure="cancel")
    assert q.run(c.Cancel(["x"])) == ("x", "y")


@spec("fault.7-put")
@pytest.mark.parametrize(("policy", "state"), [("wait", "depends"), ("run", "waiting"), ("fail", "failed")])
def test_a_policy_applies_at_put(q: Rig, policy: str, state: str) -> None:
    q.put("a", 0, queue="first")
    q.pop(0, queue="first")
    q.fail("a", 1)
    q.put("b", 2, depends=["a"], on_dependency_failure=policy)
    assert q.state("b") == state
    q.put("c", 2, depends=["a"], on_dependency_failure="cancel")
    assert q.gone("c")


@spec("fault.7-put", "put.depends-kept")
@pytest.mark.parametrize(("policy", "state"), [("wait", "depends"), ("run", "waiting"), ("fail", "failed")])
def test_a_new_policy_applies_to_the_dependencies_that_stay(q: Rig, policy: str, state: str) -> None:
    q.put("a", 0, queue="first")
    q.pop(0, queue="first")
    q.fail("a", 1)
    q.put("b", 2, depends=["a"])
    q.put("b", 3, on_dependency_failure=policy)
    assert q.state("b") == state


@spec("fault.7-patient")
def test_a_job_that_others_wait_for_is_not_taken_from_under_them(q: Rig) -> None:
    q.put("a", 0, queue="first")
    q.put("b", 0, depends=["a"], on_dependency_failure="cancel")
    q.put("patient", 0, depends=["b"])
    with q.refused(HasDependents, "b", "patient"):
        q.run(c.Cancel(["a"]))
    q.pop(1, queue="first")
    q.fail("a", 2)
    assert (q.state("b"), q.state("patient"), q.jobs("blocked")) == ("failed", "depends", ("patient",))


@spec("fault.9", "heartbeat.grace")
def test_a_heartbeat_in_the_grace_period_calls_it_off(q: Rig) -> None:
    q.put("a", 0, retries=5)
    q.pop(0)
    assert q.pop(61, worker="v") == []
    q.beat("a", 62)
    assert not q.job("a").grace
    with q.events("w:w") as heard:
        assert q.pop(123, worker="v") == []
    assert len(heard) == 1
    assert q.job("a").expires == 133.0
    assert q.pop(133, worker="v") == ["a"]


@spec("fault.10")
@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"a":[],"b":{}}',
        "9223372036854775808123456789",
        "-0.0",
        "1754000000123456",
        '"\\ud83d"',
        '{"a":1,"a":2}',
        "null",
        "[" * 400 + "]" * 400,
        '"\\u0000"',
        '"' + "é😀" * 1000 + '"',
        "[null,null,1]",
        " 1 ",
    ],
    ids=lambda text: text[:12],
)
def test_data_comes_back_as_it_was_given(q: Rig, text: str) -> None:
    q.put("a", data=text)
    (job,) = q.pop_jobs()
    assert job.data == text
    q.beat("a", data=text)
    q.complete("a", data=text, result=text)
    assert (q.job("a").data, q.job("a").result) == (text, text)
    json.loads(text)


@pytest.mark.slow
@pytest.mark.large
@spec("fault.16", "fault.32")
def test_bulk_calls_take_any_number(q: Rig) -> None:
    run = q.engine.run
    for size in (0, 1, 7_999, 8_000):
        jids = [f"j{n}" for n in range(size)]
        assert run(c.PutMany([c.Put("q", jid, "k") for jid in jids]), now=0) == tuple(jids)
        assert len(run(c.MultiGet([*jids, "never-there"]), now=0)) == size
        assert len(run(c.Pop("q", "w", size + 1), now=0)) == size
        run(c.Timeout(jids), now=0)
        assert len(run(c.Pop("q", "w", size + 1), now=0)) == size
        assert run(c.CompleteMany([c.Complete(jid, "w", "q") for jid in jids]), now=0) == ("complete",) * size
        assert run(c.Cancel([*jids, "never-there"]), now=0) == tuple(jids)
    assert q.dump().jobs == {}


@spec("fault.24")
def test_advancing_with_a_delay_schedules(q: Rig) -> None:
    q.put("done", 0, queue="o")
    q.pop(0, queue="o")
    q.complete("done", 0, queue="o")
    q.put("a", 0)
    q.pop(1)
    assert q.complete("a", 2, next="r", delay=10, depends=["done"]) == "scheduled"
    assert q.job("a").due == 12.0


@spec("fault.24-kept")
def test_a_kept_delay_does_not_come_back(q: Rig) -> None:
    q.put("dep", 0, queue="o")
    q.put("a", 0, depends=["dep"], delay=100)
    q.put("a", 1, depends=["dep"])
    assert q.job("a").due == 0.0
    q.pop(2, queue="o")
    q.complete("dep", 3, queue="o")
    assert q.state("a") == "waiting"


@spec("fault.27")
def test_retries_without_limit(q: Rig) -> None:
    q.config("grace-period", 0)
    q.put("a", 0, retries=-1)
    now = 0
    for _ in range(20):
        q.pop(now)
        assert q.retry("a", now) == -1
        q.pop(now)
        now += 61
        assert q.pop(now, worker="v") == ["a"]
        q.retry("a", now, worker="v")
    assert q.state("a") == "waiting"
    q.run(c.Recur("r", "t", "k", "{}", 10.0, retries=0))
    assert q.pop_jobs(queue="r")[0].retries == 0


@spec("fault.28")
def test_unfail_does_all_that_put_does(q: Rig) -> None:
    q.put("a", 0)
    q.run(c.Track("a"))
    q.pop(0)
    q.fail("a", 1)
    with q.events() as heard:
        q.run(c.Unfail("fresh", "g"), 2)
    assert heard == [("log", {"event": "put", "jid": "a", "queue": "fresh"}), ("put", "a")]
    assert "fresh" in [counts.name for counts in q.run(c.AllCounts())]
    assert q.history("a") == ["put", "popped", "failed", "put"]


@spec("fault.29")
def test_tracked_jids_without_a_job_go_in_time(q: Rig) -> None:
    q.config("jobs-history", 100)
    q.config("jobs-history-count", 0)
    q.put("a", 0)
    q.run(c.Track("a"))
    q.pop(0)
    q.complete("a", 1)
    assert q.run(c.Tracked(), 50).expired == ("a",)
    q.pop(200)
    assert q.run(c.Tracked()).expired == ()


@spec("fault.22")
def test_lapsed_locks_count_against_the_limit_and_are_seen_to(q: Rig) -> None:
    q.config("q-max-concurrency", 1)
    q.put("a", 0)
    q.put("b", 0)
    q.pop(0)
    assert q.pop(61, worker="v", count=5) == []
    assert q.job("a").grace
    assert q.pop(65, worker="v", count=5) == []
    assert q.pop(71, worker="v", count=5) == ["a"]
    assert q.pop(72, worker="v", count=5) == []


@spec("fault.19", "guarantee.repeat")
@pytest.mark.parametrize(
    "command",
    [
        c.Put("q", "new", "k"),
        c.PutMany([c.Put("q", "n1", "k"), c.Put("q", "n2", "k")]),
        c.Complete("held", "w", "q"),
        c.Fail("held", "w", "g", "m"),
        c.Retry("held", "q", "w"),
        c.Pop("q", "w", 2),
        c.Cancel(["waits"]),
        c.Unfail("q", "g"),
    ],
    ids=lambda command: str(command.name),
)
def test_a_repeated_command_does_nothing_more(q: Rig, command: c.Command[object]) -> None:
    for jid in ("held", "waits", "more"):
        q.put(jid, 0)
    q.pop(0)
    first = q.run(command, 1, token="t1")
    after = q.dump()
    assert q.run(command, 1, token="t1") == first
    assert q.dump() == after
    with q.refused(TokenReused, "t1", command.name):
        q.run(c.Put("q", "another", "k"), token="t1")


@spec("guarantee.repeat")
def test_a_refused_command_may_be_tried_again_with_its_token(q: Rig) -> None:
    with pytest.raises(Exception, match="does not exist"):
        q.run(c.Requeue("q", "a"), token="t")
    q.put("a")
    assert q.run(c.Requeue("r", "a"), token="t") == "a"


@spec("fault.5")
def test_a_bad_job_among_many_changes_none(q: Rig) -> None:
    q.put("a", tags=["x"])
    q.put("b")
    q.pop()
    with q.refused(BadArgument, "completes[1]"):
        q.run(c.CompleteMany([c.Complete("a", "w", "q"), c.Complete("b", "w", "q")]))
    with q.refused(JobNotRunning):
        q.run(c.Timeout(["a", "b"]))
