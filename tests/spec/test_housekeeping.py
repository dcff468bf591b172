"""Sections 5 and 6: housekeeping and statistics."""

from __future__ import annotations

import statistics

import pytest

from stanchion import commands as c
from stanchion.records import QueueStats, Timing
from tests.spec.rig import Rig, spec

DAY = 86400


@spec("lapse.courtesy", "lapse.tracked", "lapse.second")
def test_the_first_lapse_warns_and_the_second_hands_over(q: Rig) -> None:
    q.put("a", 0, retries=3)
    q.run(c.Track("a"))
    q.pop(0)
    with q.events() as heard:
        assert q.pop(61, worker="v") == []
    lost = {"event": "lock_lost", "jid": "a", "worker": "w"}
    assert heard == [("stalled", "a"), ("w:w", lost), ("log", lost)]
    job = q.job("a")
    assert (job.worker, job.expires, job.remaining, job.grace) == ("w", 71.0, 3, True)
    assert q.history("a") == ["put", "popped", "timed-out"]
    assert q.stats().retries == 1
    assert q.pop(70, worker="v") == []
    (taken,) = q.pop_jobs(71, worker="v")
    assert (taken.worker, taken.remaining, taken.expires, taken.grace) == ("v", 2, 131.0, False)
    assert q.run(c.JobsOfWorker("w")).jobs == ()
    assert q.stats().retries == 1


@spec("lapse.grace")
@pytest.mark.parametrize(
    "end", [c.Heartbeat("a", "w"), c.Complete("a", "w", "q"), c.Fail("a", "w", "g", "m"), c.Retry("a", "q", "w")]
)
def test_in_the_grace_period_the_worker_may_still_end_it(q: Rig, end: c.Command[object]) -> None:
    q.put("a", 0)
    q.pop(0)
    q.pop(61, worker="v")
    q.run(end, 65)


@spec("lapse.no-grace")
@pytest.mark.parametrize("grace", [0, -5])
def test_without_grace_the_job_goes_on_at_once(q: Rig, grace: int) -> None:
    q.config("grace-period", grace)
    q.put("a", 0, retries=3)
    q.pop(0)
    (job,) = q.pop_jobs(61, worker="v")
    assert (job.worker, job.remaining) == ("v", 2)
    assert [entry.what for entry in job.history] == ["put", "popped", "timed-out", "popped"]


@spec("lapse.exhausted", "fault.8")
def test_a_lapse_too_many_fails_the_job_and_names_its_worker(q: Rig) -> None:
    q.put("a", 0, retries=0)
    q.pop(0)
    q.pop(61, worker="v")
    assert q.pop(71, worker="v") == []
    failure = q.job("a").failure
    assert failure is not None
    assert (failure.group, failure.worker) == ("failed-retries-q", "w")
    assert q.run(c.FailureGroups()) == {"failed-retries-q": 1}


@spec("lapse.count")
def test_a_pop_sees_to_as_many_lapsed_locks_as_it_asks_for(q: Rig) -> None:
    for n in range(5):
        q.put(f"j{n}", 0)
    q.pop(0, count=5)
    q.pop(61, worker="v", count=2)
    assert sum(q.job(f"j{n}").grace for n in range(5)) == 2


@spec("retention.age", "retention.count")
def test_complete_jobs_are_kept_for_a_time_and_up_to_a_number(q: Rig) -> None:
    def done(jid: str, now: float) -> None:
        q.put(jid, now, tags=["t"])
        q.pop(now)
        q.complete(jid, now)

    q.config("jobs-history", 100)
    done("a", 0)
    done("b", 50)
    done("c", 101)
    assert q.jobs("complete", None) == ("c", "b")
    assert q.run(c.Tagged("t")).jobs == ("b", "c")
    q.config("jobs-history-count", 2)
    done("d", 102)
    assert q.jobs("complete", None) == ("d", "c")
    assert q.gone("a")
    assert q.gone("b")


@spec("stats.wait", "stats.run", "stats.moments")
def test_wait_and_run_times(q: Rig) -> None:
    waits, runs = [1.5, 4.0, 10.0], [2.0, 3.0, 100.0]
    for n, (wait, run) in enumerate(zip(waits, runs, strict=True)):
        start = n * 1000
        q.put(f"j{n}", start)
        q.pop(start + wait)
        q.beat(f"j{n}", start + wait)
        q.config("heartbeat", 1000)
        q.complete(f"j{n}", start + wait + run)
    for timing, values in ((q.stats().wait, waits), (q.stats().run, runs)):
        assert timing.count == 3
        assert timing.mean == pytest.approx(statistics.mean(values))
        assert timing.std == pytest.approx(statistics.stdev(values))
    q.put("x", DAY - 5)
    q.pop(DAY + 5)
    assert (q.stats(date=DAY + 1).wait.count, q.stats(date=0).wait.count, q.stats().wait.std) == (1, 3, 0)
    q.complete("x", 2 * DAY + 5)
    assert q.stats(date=2 * DAY).run.count == 1


@spec("stats.buckets", "stats.edges", "fault.3")
@pytest.mark.parametrize(
    ("seconds", "bucket"),
    [
        (-5, 0), (0, 0), (0.9, 0), (59.9, 59), (60, 60), (3599, 118), (3600, 119), (86399, 141), (86400, 142),
        (6 * 86400 + 1, 147), (7 * 86400, 147), (1e8, 147),
    ],
)  # fmt: skip
def test_which_bucket_a_wait_falls_in(q: Rig, seconds: float, bucket: int) -> None:
    start = 1e9
    q.put("a", start)
    q.pop(start + seconds)
    histogram = q.stats().wait.histogram
    assert len(histogram) == 148
    assert [index for index, count in enumerate(histogram) if count] == [bucket]


@spec("stats.counters", "stats.empty")
def test_counters(q: Rig) -> None:
    assert q.stats() == QueueStats(Timing(), Timing(), 0, 0, 0)
    for jid in "ab":
        q.put(jid, 0)
        q.pop(0)
        q.fail(jid, 1)
    q.run(c.Unfail("q", "g", 1), 2)
    q.pop(2)
    q.fail("a", 3)
    assert (q.stats().failures, q.stats().failed) == (3, 2)


@spec("stats.failed-down", "fault.4")
@pytest.mark.parametrize(
    "leave", [c.Put("other", "a", "k"), c.Requeue("other", "a"), c.Unfail("other", "g"), c.Cancel(["a"])]
)
def test_failed_goes_down_where_the_job_failed(q: Rig, leave: c.Command[object]) -> None:
    q.put("a", 0)
    q.pop(0)
    q.fail("a", 10)
    assert q.stats(date=0).failed == 1
    q.run(leave, 3 * DAY)
    assert (q.stats(date=0).failed, q.stats(date=0).failures) == (0, 1)
    assert (q.stats("other").failed, q.stats().failed) == (0, 0)


@spec("stats.expire", "fault.29")
def test_statistics_go_in_time(q: Rig) -> None:
    def work(now: float) -> None:
        q.put("a", now)
        q.pop(now + 1)
        q.complete("a", now + 2)

    work(0)
    work(8 * DAY)
    assert (q.stats(date=0).wait.count, sum(q.stats(date=0).wait.histogram)) == (1, 0)
    assert sum(q.stats().wait.histogram) == 1
    work(31 * DAY)
    assert q.stats(date=0) == QueueStats()
    assert q.stats(date=8 * DAY).run.count == 1


@spec("fault.31")
def test_wait_counts_neither_a_delay_nor_an_earlier_run(q: Rig) -> None:
    q.put("a", 0, delay=1000)
    q.pop(1003)
    assert q.stats().wait.mean == 3
    q.retry("a", 1053)
    q.pop(1060)
    assert q.stats().wait.mean == (3 + 7) / 2
    q.put("dep", 1060, queue="o")
    q.put("b", 1060, queue="p", depends=["dep"])
    q.pop(1060, queue="o")
    q.complete("dep", 1100, queue="o")
    q.pop(1102, queue="p")
    assert q.stats("p").wait.mean == 2
