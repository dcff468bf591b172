"""Days and what is kept of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.rules.days import DAY, day_of, oldest_kept
from tests.unit.rules.golden import cases

times = st.floats(-(2**53), 2**53)


@pytest.mark.parametrize("case", cases("days"), ids=lambda case: str(case["when"]))
def test_golden(case: Any) -> None:
    assert day_of(case["when"]) == case["day"]


@given(times)
def test_a_time_is_in_its_day(when: float) -> None:
    day = day_of(when)
    assert day % DAY == 0
    assert day <= when < day + DAY


@given(st.floats(-1e12, 1e12), st.integers(-5, 400))
def test_that_many_days_are_kept_today_among_them(now: float, days: int) -> None:
    assert (day_of(now) - oldest_kept(now, days)) // DAY == max(0, days - 1)


@pytest.mark.parametrize("days", [2**53, 10**30])
def test_an_absurd_number_of_days_fits_a_storage_that_keeps_64_bits(days: int) -> None:
    assert oldest_kept(1.7e9, days) == -(2**53)
