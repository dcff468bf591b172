"""Sections 1 to 3: terms, states, records."""

from __future__ import annotations

import time
import uuid

import pytest

from stanchion import Client
from stanchion import commands as c
from stanchion.errors import HasDependents, JobNotRunning
from stanchion.records import HistoryEntry, Job, RecurringJob
from tests.spec.rig import Rig, spec


@spec("terms.jid")
def test_a_jid_is_made_where_none_is_given() -> None:
    with Client("sqlite://") as client:
        jid = client.queues["q"].put("k")
    assert uuid.UUID(hex=jid).version == 4
    assert jid == uuid.UUID(jid).hex


@spec("terms.data")
def test_data_is_kept_byte_for_byte(q: Rig) -> None:
    text = '{ "b":1,"a" : [ ],\t"é": "\\u00e9", "n": 1.50}'
    q.put("a", data=text)
    assert q.job("a").data == text
    assert q.pop_jobs()[0].data == text


@spec("terms.queue")
def test_a_queue_exists_from_its_first_put_or_recur_until_it_is_forgotten(q: Rig) -> None:
    assert q.run(c.AllCounts()) == ()
    q.put("a", queue="first")
    q.run(c.Recur("second", "r", "k", "{}", 10.0))
    assert [counts.name for counts in q.run(c.AllCounts())] == ["first", "second"]
    q.run(c.ForgetQueues(["first"]))
    assert [counts.name for counts in q.run(c.AllCounts())] == ["second"]


@spec("terms.now")
def test_now_may_be_given(q: Rig) -> None:
    q.put("a", now=1234.5)
    assert q.job("a").history == (HistoryEntry("put", 1234.5, {"q": "q"}),)


@spec("terms.clock", "fault.13")
def test_without_now_the_engines_clock_counts_and_never_goes_back(q: Rig) -> None:
    before = time.time()
    q.engine.run(c.Put("q", "a", "k"))
    q.engine.run(c.Put("q", "b", "k"))
    first, second = (q.engine.run(c.Get(jid)).history[0].when for jid in "ab")
    assert before - 1 <= first <= second <= time.time() + 1


@spec("state.atomic", "fault.5")
def test_a_refused_command_changes_nothing(q: Rig) -> None:
    q.put("a", 0)
    q.put("b", 0, depends=["a"])
    q.pop(1)
    with q.refused(HasDependents):
        q.run(c.Cancel(["a"]), 2)
    with q.refused(JobNotRunning):
        q.run(c.Timeout(["a", "b"]), 2)


@spec("state.one-place")
def test_a_job_is_in_one_place_through_its_life(q: Rig) -> None:
    # The rig checks the whole state after each command.
    q.put("a", 0, delay=5, tags=["t"])
    q.pop(6)
    q.complete("a", 7, next="r")
    q.pop(8, queue="r")
    q.fail("a", 9)
    q.run(c.Unfail("q", "g"), 10)
    q.pop(11)
    q.run(c.Timeout(["a"]), 12)
    q.pop(13)
    q.complete("a", 14)
    assert q.state("a") == "complete"


@spec("state.put-scheduled", "state.due")
def test_a_delayed_job_is_scheduled_and_reads_as_waiting_once_due(q: Rig) -> None:
    q.put("a", 0, delay=10)
    assert (q.state("a"), q.job("a").due) == ("scheduled", 10.0)
    assert (q.counts().scheduled, q.jobs("scheduled"), q.jobs("waiting")) == (1, ("a",), ())
    q.now = 10
    assert (q.state("a"), q.job("a").due, q.job("a").ready_at) == ("waiting", 0.0, 10.0)
    assert (q.counts().waiting, q.counts().scheduled, q.run(c.Length("q"))) == (1, 0, 1)
    assert (q.jobs("scheduled"), q.jobs("waiting")) == ((), ("a",))
    assert q.state("a", 9) == "scheduled"


@spec("state.put-depends", "state.release", "state.release-scheduled")
def test_a_job_waits_for_its_dependencies_and_then_for_its_delay(q: Rig) -> None:
    q.put("a", 0)
    q.put("b", 0, depends=["a"])
    q.put("c", 0, depends=["a"], delay=100)
    assert (q.state("b"), q.job("b").due) == ("depends", 0.0)
    assert (q.state("c"), q.job("c").due) == ("depends", 100.0)
    q.pop(1)
    q.complete("a", 50)
    assert (q.state("b"), q.job("b").ready_at) == ("waiting", 50.0)
    assert (q.state("c"), q.job("c").due) == ("scheduled", 100.0)
    assert q.pop(99, count=2) == ["b"]
    assert q.pop(100) == ["c"]


@spec("state.release")
def test_a_kept_delay_that_is_over_keeps_nothing(q: Rig) -> None:
    q.put("a", 0)
    q.put("b", 0, depends=["a"], delay=5)
    q.pop(1)
    q.complete("a", 10)
    assert (q.state("b"), q.job("b").ready_at) == ("waiting", 10.0)


@spec("state.put-waiting", "state.pop", "state.complete")
def test_waiting_running_complete(q: Rig) -> None:
    q.put("a", 0)
    assert q.state("a") == "waiting"
    q.pop(1)
    assert q.state("a") == "running"
    q.complete("a", 2)
    assert (q.state("a"), q.job("a").queue) == ("complete", "")


@spec("state.put-throttled")
def test_a_job_put_while_its_throttle_is_full_is_throttled(q: Rig) -> None:
    q.run(c.SetThrottle("t", 1))
    q.put("a", throttles=["t"])
    q.pop()
    q.put("b", throttles=["t"])
    assert q.state("b") == "throttled"
    assert q.counts().throttled == 1


@spec("state.advance")
@pytest.mark.parametrize(
    ("options", "state"), [({}, "waiting"), ({"delay": 5}, "scheduled"), ({"depends": ["other"]}, "depends")]
)
def test_completed_with_a_next_queue_a_job_lines_up_there(q: Rig, options: dict[str, object], state: str) -> None:
    q.put("a", 0)
    q.put("other", 0, queue="elsewhere")
    q.pop(1)
    assert q.complete("a", 2, next="r", **options) == state
    assert (q.state("a"), q.job("a").queue) == (state, "r")


@spec("state.fail", "state.unfail")
def test_a_failed_job_stays_until_it_is_unfailed(q: Rig) -> None:
    q.put("a", 0)
    q.pop(1)
    q.fail("a", 2)
    assert q.pop(10**6) == []
    assert q.state("a") == "failed"
    q.run(c.Unfail("q", "g"))
    assert q.state("a") == "waiting"


@spec("state.retry", "state.retry-exhausted")
def test_retry_waits_or_is_scheduled_or_fails(q: Rig) -> None:
    q.put("a", 0, retries=2)
    q.pop(1)
    q.retry("a", 2)
    assert q.state("a") == "waiting"
    q.pop(3)
    q.retry("a", 4, delay=10)
    assert (q.state("a"), q.job("a").due) == ("scheduled", 14.0)
    q.pop(14)
    assert q.retry("a", 15) == -1
    assert q.state("a") == "failed"


@spec("state.timeout", "timeout.no-retry")
def test_a_timed_out_job_is_stalled_and_first(q: Rig) -> None:
    q.put("a", 0, retries=3)
    q.put("urgent", 0, priority=100)
    q.put("b", 0)
    q.pop(1)
    q.pop(1)
    q.run(c.Timeout(["a"]), 2)
    q.run(c.Retry("urgent", "q", "w"), 2)
    assert (q.state("a"), q.counts().stalled) == ("stalled", 1)
    assert q.pop(3, worker="v", count=3) == ["a", "urgent", "b"]
    assert q.job("a").remaining == 3


@spec("state.lapse", "state.lapse-exhausted")
def test_a_lapsed_job_goes_on_or_fails(q: Rig) -> None:
    q.put("a", 0, retries=1)
    q.pop(0)
    assert q.pop(60, worker="v") == []
    assert q.pop(70, worker="v") == ["a"]
    assert (q.state("a"), q.job("a").worker) == ("running", "v")
    assert q.pop(130, worker="w") == []
    assert q.pop(140, worker="w") == []
    assert q.state("a") == "failed"


@spec("state.cancel")
def test_a_canceled_job_does_not_exist(q: Rig) -> None:
    q.put("a")
    assert q.run(c.Cancel(["a"])) == ("a",)
    assert q.gone("a")


@spec("record.job")
def test_a_whole_record(q: Rig) -> None:
    q.put("a", 1, data='{"x":1}', priority=2, tags=["t"], retries=3, throttles=["th"])
    q.put("b", 1, depends=["a"], delay=9, on_dependency_failure="run")
    q.run(c.Track("a"))
    (job,) = q.pop_jobs(2)
    assert job == Job(
        jid="a",
        klass="k",
        data='{"x":1}',
        queue="q",
        state=job.state,
        worker="w",
        expires=62.0,
        priority=2.0,
        retries=3,
        remaining=3,
        tags=("t",),
        dependencies=(),
        dependents=("b",),
        throttles=("th",),
        tracked=True,
        spawned_from_jid=None,
        failure=None,
        history=(HistoryEntry("put", 1.0, {"q": "q"}), HistoryEntry("popped", 2.0, {"worker": "w"})),
        attempt=1,
        result=None,
        on_dependency_failure="wait",
        due=0.0,
        ready_at=1.0,
        popped_at=2.0,
        grace=False,
    )
    waiting = q.job("b")
    assert (waiting.dependencies, waiting.due, waiting.on_dependency_failure) == (("a",), 10.0, "run")


@spec("record.running", "fault.25")
def test_worker_and_expiry_are_a_running_jobs_only(q: Rig) -> None:
    def held() -> tuple[str, float, bool]:
        job = q.job("a")
        return job.worker, job.expires, job.grace

    q.put("a", 0)
    assert held() == ("", 0.0, False)
    for end in (
        lambda: q.complete("a", next="q"),
        lambda: q.retry("a"),
        lambda: q.put("a"),
        lambda: q.run(c.Timeout(["a"])),
        lambda: (q.fail("a"), q.run(c.Unfail("q", "g"))),
    ):
        start = q.now
        q.pop(start)
        q.pop(start + 60, worker="v")
        assert held() == ("w", start + 70, True)
        end()
        assert held() == ("", 0.0, False)


@spec("record.failure", "fail.record")
def test_the_failure_of_a_job(q: Rig) -> None:
    q.put("a", 0)
    assert q.job("a").failure is None
    q.pop(1)
    q.fail("a", 2, group="oops", message="it broke")
    failure = q.job("a").failure
    assert failure is not None
    assert (failure.group, failure.message, failure.when, failure.worker) == ("oops", "it broke", 2.0, "w")
    assert q.run(c.Failed("oops")).jobs == ("a",)


@spec("record.history")
def test_what_history_tells(q: Rig) -> None:
    q.run(c.SetThrottle("t", 1))
    q.put("other", 0, throttles=["t"], queue="o")
    q.put("a", 0, throttles=["t"])
    q.pop(1, queue="o")
    q.pop(1)
    q.complete("other", 2, queue="o")
    q.pop(3)
    q.run(c.Timeout(["a"]), 4)
    q.pop(5)
    q.complete("a", 6, next="q")
    q.pop(7)
    q.fail("a", 8)
    entries = [(entry.what, entry.when, entry.more) for entry in q.job("a").history]
    assert entries == [
        ("put", 0.0, {"q": "q"}),
        ("throttled", 1.0, {"q": "q"}),
        ("popped", 3.0, {"worker": "w"}),
        ("timed-out", 4.0, {}),
        ("popped", 5.0, {"worker": "w"}),
        ("done", 6.0, {}),
        ("put", 6.0, {"q": "q"}),
        ("popped", 7.0, {"worker": "w"}),
        ("failed", 8.0, {"worker": "w", "group": "g"}),
    ]


@spec("record.history-limit", "record.history-unlimited")
def test_history_is_limited(q: Rig) -> None:
    q.config("max-job-history", 3)
    q.put("a", 0)
    for n in range(5):
        q.run(c.Log("a", f"note {n}"))
    assert q.history("a") == ["put", "note 3", "note 4"]
    q.config("max-job-history", 0)
    for n in range(200):
        q.run(c.Log("a", f"more {n}"))
    assert len(q.history("a")) == 203


@spec("record.recurring", "recur.get", "recur.first")
def test_a_recurring_record(q: Rig) -> None:
    q.run(c.Recur("q", "r", "k", "[1]", 10.0, 5.0, 2.0, ["t"], 3, 4, ["th"]), 100)
    assert q.run(c.GetRecurring("r")) == RecurringJob(
        jid="r",
        klass="k",
        data="[1]",
        queue="q",
        interval=10.0,
        next_due=105.0,
        priority=2.0,
        tags=("t",),
        retries=3,
        backlog=4,
        throttles=("th",),
        count=0,
        state="recur",
    )
    assert q.run(c.GetRecurring("none")) is None
