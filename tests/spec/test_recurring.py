"""Recurring jobs, in sections 4, 5 and 9."""

from __future__ import annotations

import pytest

from stanchion import commands as c
from stanchion.errors import RecurringJobNotFound
from stanchion.records import RecurringJob
from tests.spec.rig import Rig, spec


def recur(q: Rig, now: float, interval: float = 10.0, offset: float = 0.0, **options: object) -> None:
    q.run(c.Recur("q", "r", "k", "{}", interval, offset, **options), now)  # type: ignore[arg-type]


def template(q: Rig) -> RecurringJob:
    found = q.run(c.GetRecurring("r"))
    assert isinstance(found, RecurringJob)
    return found


@spec("recur.again", "fault.17")
def test_the_same_template_again_keeps_its_schedule(q: Rig) -> None:
    recur(q, 0)
    q.pop(15, count=9)
    recur(q, 17, priority=3)
    assert (template(q).next_due, template(q).count, template(q).priority) == (20.0, 2, 3)
    recur(q, 18, restart=True)
    assert (template(q).next_due, template(q).count) == (18.0, 2)
    recur(q, 19, interval=7.0, offset=1.0)
    assert (template(q).next_due, template(q).count) == (20.0, 2)


@spec("recur.unrecur")
def test_unrecur(q: Rig) -> None:
    recur(q, 0)
    q.peek(5)
    assert q.run(c.Unrecur("r")) is True
    assert q.run(c.Unrecur("r")) is True
    assert q.run(c.GetRecurring("r")) is None
    assert q.pop(100, count=9) == ["r-1"]


@spec("recur.update", "recur.update-queue")
def test_update_changes_what_it_names(q: Rig) -> None:
    recur(q, 0, offset=5.0, retries=2)
    before = template(q)
    q.run(c.UpdateRecurring("r", priority=7, data="[2]"))
    assert (template(q).priority, template(q).data, template(q).next_due) == (7, "[2]", before.next_due)
    assert (template(q).retries, template(q).klass, template(q).interval) == (2, "k", 10.0)
    q.run(c.UpdateRecurring("r", queue="elsewhere", klass="k2", backlog=1, retries=0))
    assert (template(q).queue, template(q).next_due, template(q).retries) == ("elsewhere", 5.0, 0)
    assert "elsewhere" in [counts.name for counts in q.run(c.AllCounts())]
    assert (q.jobs("recurring"), q.jobs("recurring", "elsewhere")) == ((), ("r",))
    for command in (c.UpdateRecurring("x", priority=1), c.TagRecurring("x", ["t"]), c.UntagRecurring("x", ["t"])):
        with q.refused(RecurringJobNotFound, "x"):
            q.run(command)


@spec("recur.update-interval", "fault.26-past")
@pytest.mark.parametrize(("new", "next_due"), [(15.0, 35.0), (8.0, 28.0), (2.0, 22.0), (1000.0, 1020.0)])
def test_a_changed_interval_moves_the_next_due_time(q: Rig, new: float, next_due: float) -> None:
    recur(q, 0)
    q.pop(21, count=9)
    assert template(q).next_due == 30.0
    q.run(c.UpdateRecurring("r", interval=new))
    assert template(q).next_due == next_due
    assert q.pop(21.5, count=9) == []


@spec("recur.tags")
def test_tags_of_a_template_are_those_of_what_it_spawns(q: Rig) -> None:
    recur(q, 0, tags=["a"])
    q.pop(0)
    assert q.run(c.TagRecurring("r", ["b", "a"])) == ("a", "b")
    assert q.run(c.UntagRecurring("r", ["a"])) == ("b",)
    q.pop(10)
    assert (q.job("r-1").tags, q.job("r-2").tags) == (("a",), ("b",))


@spec("recurring.spawn", "recurring.missed", "recurring.drift")
def test_every_missed_time_is_spawned_as_of_then(q: Rig) -> None:
    recur(q, 100, offset=5.0, retries=2)
    jobs = q.pop_jobs(131, count=2)
    assert [(job.jid, job.history[0].when, job.ready_at) for job in jobs] == [("r-1", 105.0, 105.0), ("r-2", 115.0, 115.0)]
    assert [(job.spawned_from_jid, job.retries) for job in jobs] == [("r", 2), ("r", 2)]
    assert template(q).next_due == 125.0
    assert q.pop(131, count=5) == ["r-3"]
    assert template(q).next_due == 135.0
    assert q.pop(134.9, count=5) == []
    assert q.pop(135, count=5) == ["r-4"]


@spec("recurring.missed", "pop.recurring", "fault.23")
def test_a_template_that_missed_much_holds_up_no_other(q: Rig) -> None:
    recur(q, 0, interval=1.0)
    q.run(c.Recur("q", "urgent", "k", "{}", 50.0, 50.0, priority=9), 0)
    assert q.pop(100) == ["urgent-1"]
    assert q.pop(100) == ["urgent-2"]
    assert q.pop(100, count=3) == ["r-1", "r-2", "r-3"]


@spec("recurring.backlog")
def test_a_backlog_limits_what_is_made_up_for(q: Rig) -> None:
    recur(q, 0, backlog=2)
    jobs = q.pop_jobs(95, count=50)
    assert [job.ready_at for job in jobs] == [80.0, 90.0]
    assert template(q).next_due == 100.0
    assert [job.ready_at for job in q.pop_jobs(130, count=50)] == [110.0, 120.0, 130.0]


@spec("fault.18")
def test_a_fractional_interval_is_exact(q: Rig) -> None:
    recur(q, 0, interval=0.5)
    assert [job.ready_at for job in q.pop_jobs(2, count=50)] == [0.0, 0.5, 1.0, 1.5, 2.0]
    q.run(c.Unrecur("r"))
    recur(q, 10, interval=0.1, restart=True)
    total = 0
    for now in (10.05, 10.1, 10.35, 11, 12, 20):
        total += len(q.pop(now, count=500))
    assert total == 101


@spec("fault.26-number")
def test_a_spawned_job_takes_a_free_number(q: Rig) -> None:
    q.put("r-1", 0, queue="other", data="[1]")
    recur(q, 0)
    assert q.pop(0) == ["r-2"]
    assert q.job("r-1").data == "[1]"
    assert q.pop(10) == ["r-3"]
