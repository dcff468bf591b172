"""What the worker decides, without a queue: outcomes and leases."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Constant, Exponential, Linear
from stanchion.commands import Complete, Fail, Retry
from stanchion.records import Job
from stanchion.rules.backoff import Backoff
from stanchion.rules.names import MAX_NAME_BYTES
from stanchion.states import State
from stanchion.worker.lease import Lease, due, new_lease, next_look, overdue
from stanchion.worker.outcome import MESSAGE_CHARACTERS, Raised, Returned, Settled, Unknown, raised, settle


def job(**fields: Any) -> Job:
    return Job("a", "k", "{}", "q", State.RUNNING, "w", expires=70.0, popped_at=10.0, attempt=3, **fields)


@pytest.mark.parametrize(
    ("outcome", "command"),
    [
        (Returned(None), Complete("a", "w", "q", attempt=3)),
        (Returned([1]), Complete("a", "w", "q", result="[1]", attempt=3)),
        (Raised("ValueError", "why"), Retry("a", "q", "w", 4.0, "q-ValueError", "why", 3)),
        (Settled(), None),
    ],
)
def test_what_settles_an_outcome(outcome: Any, command: Any) -> None:
    assert settle(job(), outcome, Constant(4.0)) == (() if command is None else (command,))


def test_outcomes_that_fail_at_once() -> None:
    (unknown,) = settle(job(), Unknown(), Constant(0))
    assert isinstance(unknown, Fail)
    assert unknown.group == "unknown-klass"
    (odd,) = settle(job(), Returned(object()), Constant(0))
    assert isinstance(odd, Fail)
    assert odd.group == "q-unencodable-result"


@pytest.mark.parametrize(("remaining", "tries"), [(5, 1), (4, 2), (0, 6)])
def test_backoff_counts_the_tries_of_this_run(remaining: int, tries: int) -> None:
    (command,) = settle(job(retries=5, remaining=remaining), Raised("E", "m"), Linear(1.0))
    assert isinstance(command, Retry)
    assert command.delay == tries


def test_a_backoff_that_raises_is_told_and_harmless() -> None:
    def broken(attempt: int) -> float:
        raise RuntimeError("my fault")

    (command,) = settle(job(), Raised("E", "m"), broken)
    assert isinstance(command, Retry)
    assert (command.delay, "my fault" in (command.message or "")) == (0.0, True)


@pytest.mark.parametrize(
    ("backoff", "delays"),
    [
        (Constant(3), [3, 3, 3]),
        (Linear(2, cap=5), [2, 4, 5]),
        (Exponential(base=1, factor=2, cap=3, jitter=0), [1, 2, 3]),
    ],
)
def test_backoffs(backoff: Backoff, delays: list[float]) -> None:
    assert [backoff(attempt) for attempt in (1, 2, 3)] == delays


def test_exponential_backoff_is_jittered_and_capped_without_end() -> None:
    backoff = Exponential(base=10, factor=10, cap=60, jitter=0.5)
    assert all(30 <= backoff(attempt) <= 60 for attempt in (2, 100, 10**6))


class Hostile(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even a text")


@pytest.mark.parametrize(
    "error", [ValueError("x"), Hostile(), KeyboardInterrupt(), ValueError("\ud800"), ValueError("y" * 10**6)]
)
def test_any_exception_can_be_told(error: BaseException) -> None:
    told = raised(error)
    assert told.name == type(error).__name__
    assert 0 < len(told.message) <= MESSAGE_CHARACTERS
    told.message.encode()


def test_a_group_that_would_be_too_long_keeps_its_end() -> None:
    long = Job("a", "k", "{}", "é" * (MAX_NAME_BYTES // 2), State.RUNNING, "w")
    for outcome, end in ((Raised("ValueError", ""), "é-ValueError"), (Returned(object()), "é-unencodable-result")):
        (command,) = settle(long, outcome, Constant(0))
        assert isinstance(command, Retry | Fail)
        assert command.group is not None
        assert command.group.endswith(end)


def test_leases_are_renewed_at_a_third() -> None:
    lease = new_lease(job(), asked=100.0)
    lease.deadline = 105.0
    assert (lease.seconds, lease.due, lease.ends) == (60.0, 120.0, 160.0)
    assert due([lease], 119.9) == []
    assert due([lease], 120.0) == [lease]
    assert overdue([lease], 104.9) == []
    assert overdue([lease], 105.0) == [lease]
    assert next_look([lease], 100.0, longest=60.0) == 5.0
    assert next_look([lease], 104.5, longest=0.1) == 0.1
    assert next_look([], 0.0, longest=60.0) == 60.0


def test_a_lease_that_is_late_or_settled_asks_for_nothing_more() -> None:
    lease = Lease(job(), 0.0, 60.0, deadline=5.0, late=True)
    assert overdue([lease], 6.0) == []
    assert next_look([lease], 6.0, longest=60.0) == 14.0
    lease.settled = True
    assert due([lease], 20.0) == []
    assert next_look([lease], 20.0, longest=60.0) == 60.0


@pytest.mark.parametrize(
    ("fields", "ours"),
    [({}, True), ({"late": True}, True), ({"lost": "moved"}, False), ({"settled": True}, False), ({"seconds": 5.0}, False)],
    ids=str,
)
def test_whose_a_lock_is(fields: dict[str, Any], ours: bool) -> None:
    assert Lease(**{"job": job(), "renewed": 0.0, "seconds": 60.0, **fields}).is_ours(10.0) == ours


def test_very_short_locks_do_not_spin() -> None:
    assert Lease(job(), 0.0, 0.001).due == 0.05
