"""The due times of recurring jobs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.rules.recurrence import SHORTEST_INTERVAL, changed_interval, due_time, due_times, free_number
from tests.unit.rules.golden import cases

pytestmark = pytest.mark.slow

MICROSECOND = 1e-6

firsts = st.floats(0, 4e9)
intervals = st.floats(SHORTEST_INTERVAL, 1e7)


@pytest.mark.parametrize("case", cases("due_times"), ids=str)
def test_golden_due_times(case: Any) -> None:
    due = due_times(case["next_due"], case["interval"], case["now"], case["backlog"], case["limit"])
    assert list(due.times) == case["times"]
    assert due.next_due == case["then"]


@pytest.mark.parametrize("case", cases("changed_interval"), ids=str)
def test_golden_changed_interval(case: Any) -> None:
    assert changed_interval(case["next_due"], case["old"], case["new"], case["now"]) == case["then"]


@given(firsts, intervals, st.integers(0, 10**6))
def test_a_due_time_is_that_many_intervals_later(first: float, interval: float, n: int) -> None:
    exact = Fraction(first) + n * Fraction(interval)
    found = due_time(first, interval, n)
    # Half a microsecond, and what the float of that size cannot hold.
    assert abs(Fraction(found) - exact) <= Fraction(MICROSECOND) / 2 + abs(exact) / 2**51
    assert due_time(first, interval, n + 1) > found


@pytest.mark.parametrize("interval", [0.1, 0.7, 0.001, 1.1, 0.333333, 86400.000001])
def test_popped_one_by_one_the_schedule_does_not_drift(interval: float) -> None:
    first = due = 1.7e9
    for _ in range(20_000):
        (found,) = due_times(due, interval, due, 0, 10).times
        assert found == due
        due = due_times(due, interval, due, 0, 10).next_due
    assert due == due_time(first, interval, 20_000)
    assert abs(due - (first + 20_000 * interval)) < MICROSECOND


@given(firsts, intervals, st.floats(-10, 300), st.integers(0, 5), st.integers(0, 400))
def test_what_is_due(next_due: float, interval: float, periods: float, backlog: int, limit: int) -> None:
    now = next_due + periods * interval
    times, then = due_times(next_due, interval, now, backlog, limit)
    assert len(times) <= limit
    assert list(times) == sorted(set(times))
    assert all(when <= now for when in times)
    assert then > now or len(times) == limit
    assert not times or then > times[-1]
    if backlog:
        assert all(when >= now - backlog * interval - MICROSECOND for when in times)
        assert len(times) <= backlog + 1
    elif next_due <= now and limit:
        assert times[0] == next_due


@given(st.integers(0, 4 * 10**15), st.integers(1000, 10**12), st.floats(0, 100), st.lists(st.integers(1, 40), min_size=1))
def test_spawned_in_parts_they_are_the_same(first: int, every: int, periods: float, limits: list[int]) -> None:
    """So it does not matter how often somebody pops: for any first time and interval of whole microseconds."""
    next_due, interval = first / 10**6, every / 10**6
    now = next_due + periods * interval
    whole = due_times(next_due, interval, now, 0, sum(limits))
    parts: list[float] = []
    due = next_due
    for limit in limits:
        times, due = due_times(due, interval, now, 0, limit)
        parts += times
    assert (tuple(parts), due) == whole


@pytest.mark.parametrize("now", [2.0**53, -(2.0**53)])
@pytest.mark.parametrize("next_due", [-(2.0**53), 0.0, 2.0**53])
@pytest.mark.parametrize("interval", [SHORTEST_INTERVAL, 2.0**53])
@pytest.mark.parametrize("backlog", [0, 1, 2**53])
def test_the_ends_of_time_are_survived(now: float, next_due: float, interval: float, backlog: int) -> None:
    times, _ = due_times(next_due, interval, now, backlog, 1000)
    assert len(times) <= 1000


@given(firsts, intervals, intervals, st.floats(-5, 5))
def test_a_changed_interval_brings_no_new_past(next_due: float, old: float, new: float, periods: float) -> None:
    now = next_due + periods * old
    then = changed_interval(next_due, old, new, now)
    assert then == next_due or then <= now + new
    assert then >= min(next_due, now)


@given(st.integers(0, 50), st.sets(st.integers(1, 120)))
def test_a_free_number_is_free_and_follows_a_taken_one(count: int, taken: set[int]) -> None:
    found = free_number(count, taken.__contains__)
    assert found > count
    assert found not in taken
    assert found == count + 1 or found - 1 in taken


def test_a_free_number_is_found_in_few_questions() -> None:
    asked: list[int] = []

    def is_taken(number: int) -> bool:
        asked.append(number)
        return number <= 1_000_000

    assert free_number(0, is_taken) == 1_000_001
    assert len(asked) < 50
