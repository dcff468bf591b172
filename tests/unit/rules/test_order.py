"""The order of the waiting line."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from stanchion.rules.order import line_key
from tests.unit.rules.golden import cases

numbers = st.floats(-(2**53), 2**53)


def test_the_golden_line() -> None:
    line = cases("order")
    assert sorted(line[::-1], key=lambda job: line_key(*job)) == line


@given(st.lists(st.tuples(numbers, numbers, st.integers(0, 2**53)), min_size=2))
def test_priority_then_time_then_number(jobs: list[tuple[float, float, int]]) -> None:
    for first, then in pairwise(sorted(jobs, key=lambda job: line_key(*job))):
        assert first[0] >= then[0]
        if first[0] == then[0]:
            assert first[1:] <= then[1:]


def test_priorities_far_beyond_a_score_leave_the_order_of_puts() -> None:
    assert line_key(1e15, 1.7e9, 1) < line_key(1e15, 1.7e9, 2) < line_key(1e15, 1.7e9 + 1e-6, 0)
