"""Throttles."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import commands as c
from stanchion.records import Throttle
from tests.spec.rig import Rig, spec


@pytest.fixture
def full(q: Rig) -> Rig:
    """A throttle t of one place, held by "a"; "b" and then "c", of higher priority, wait for it."""
    q.run(c.SetThrottle("t", 1), 0)
    q.put("a", 0, throttles=["t"])
    q.pop(0)
    q.put("b", 1, throttles=["t"])
    q.put("c", 2, throttles=["t"], priority=5)
    assert q.run(c.ThrottlePending("t")) == ("c", "b")
    return q


@spec("throttle.set")
def test_a_limit_is_set_and_read(q: Rig) -> None:
    assert q.run(c.GetThrottle("t")) == Throttle("t", 0, None)
    q.run(c.SetThrottle("t", 3))
    assert q.run(c.GetThrottle("t")) == Throttle("t", 3, None)
    q.run(c.SetThrottle("s", 1))
    assert q.run(c.AllThrottles()) == (Throttle("s", 1), Throttle("t", 3))


@spec("throttle.ttl")
def test_a_limit_may_be_for_a_time(full: Rig) -> None:
    full.run(c.SetThrottle("t", 1, 100), 5)
    assert full.run(c.GetThrottle("t"), 35).ttl == 70.0
    assert full.run(c.GetThrottle("t"), 105) == Throttle("t", 0, None)
    assert full.run(c.AllThrottles()) == ()
    full.beat("a", 40)
    assert full.pop(105, worker="v", count=5) == ["c", "b"]


@spec("throttle.pop")
def test_a_job_needs_a_place_in_each_of_its_throttles(q: Rig) -> None:
    q.run(c.SetThrottle("t", 1))
    q.run(c.SetThrottle("u", 2))
    q.put("a", throttles=["t", "u"])
    q.put("b", throttles=["u"])
    assert q.pop(count=9) == ["a", "b"]
    assert (q.run(c.ThrottleLocks("t")), q.run(c.ThrottleLocks("u"))) == (("a",), ("a", "b"))
    q.put("c", throttles=["t", "u"])
    q.complete("b")
    assert q.pop(count=9) == []
    q.complete("a")
    assert q.pop(count=9) == ["c"]


@spec("throttle.zero")
def test_a_maximum_of_zero_is_no_limit(q: Rig) -> None:
    q.run(c.SetThrottle("t", 0))
    for jid in "abc":
        q.put(jid, throttles=["t", "never-set"])
    assert len(q.pop(count=9)) == 3
    assert q.run(c.ThrottleLocks("t")) == ("a", "b", "c")


@spec("throttle.held-back")
def test_the_next_ones_are_given_instead(q: Rig) -> None:
    q.run(c.SetThrottle("t", 1))
    for jid in ("a", "b", "c"):
        q.put(jid, throttles=["t"])
    q.put("free")
    assert q.pop(count=2) == ["a", "free"]
    assert (q.state("b"), q.history("b")) == ("throttled", ["put", "throttled"])
    assert q.job("b").history[-1].more == {"q": "q"}


@spec("throttle.gives-back", "throttle.order")
@pytest.mark.parametrize(
    "end",
    [
        c.Complete("a", "w", "q"),
        c.Complete("a", "w", "q", next="r"),
        c.Fail("a", "w", "g", "m"),
        c.Retry("a", "r", "w"),
        c.Put("r", "a", "k"),
        c.Requeue("r", "a"),
        c.Cancel(["a"]),
        c.Timeout(["a"]),
    ],
    ids=lambda command: str(command.name),
)
def test_a_place_is_given_back_and_the_best_gets_it(full: Rig, end: c.Command[Any]) -> None:
    full.run(end, 5)
    assert (full.state("c"), full.state("b")) == ("waiting", "throttled")
    assert full.run(c.ThrottleLocks("t")) == ()
    taken = full.pop(6, worker="v", count=9)
    assert "b" not in taken
    assert full.run(c.ThrottleLocks("t")) == (("a",) if "a" in taken else ("c",))


@spec("throttle.locks")
def test_who_holds_and_who_waits(full: Rig) -> None:
    assert full.run(c.ThrottleLocks("t")) == ("a",)
    assert full.run(c.ThrottlePending("t")) == ("c", "b")
    assert full.jobs("throttled") == ("b", "c")


@spec("throttle.release")
def test_places_are_taken_by_hand(full: Rig) -> None:
    full.run(c.ReleaseThrottle("t", ["a", "nobody"]))
    assert full.run(c.ThrottleLocks("t")) == ()
    assert full.state("a") == "running"
    assert full.pop(count=9, worker="v") == ["c"]


@spec("throttle.delete", "fault.30")
def test_a_deleted_or_raised_limit_lets_the_waiting_in(full: Rig) -> None:
    full.run(c.SetThrottle("t", 2))
    assert (full.state("c"), full.state("b")) == ("waiting", "throttled")
    full.run(c.DeleteThrottle("t"))
    assert full.state("b") == "waiting"


@spec("fault.30")
def test_places_follow_the_record(full: Rig) -> None:
    full.run(c.SetThrottle("u", 1))
    full.put("a", 3, throttles=["u"])
    assert (full.state("a"), full.run(c.ThrottleLocks("t")), full.state("c")) == ("waiting", (), "waiting")
    assert set(full.pop(3, count=9)) == {"a", "c"}
    assert (full.run(c.ThrottleLocks("u")), full.run(c.ThrottleLocks("t"))) == (("a",), ("c",))
    full.put("a", 4, throttles=["u"])
    assert full.state("a") == "waiting"
