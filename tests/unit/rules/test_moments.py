"""Mean and deviation of a stream."""

from __future__ import annotations

import math
import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.rules.moments import Moments
from tests.unit.rules.golden import cases


def of(values: list[float]) -> Moments:
    moments = Moments()
    for value in values:
        moments = moments.add(value)
    return moments


@pytest.mark.parametrize("case", cases("moments"), ids=lambda case: f"{case['mean']}±{case['std']}")
def test_golden(case: Any) -> None:
    moments = of(case["values"])
    assert moments.n == case["count"]
    assert moments.mean == pytest.approx(case["mean"], rel=1e-9)
    assert moments.std == pytest.approx(case["std"], rel=1e-9)


@given(st.lists(st.floats(-1e9, 1e9), min_size=2), st.sampled_from([0.0, 1.7e9, -1e12]))
def test_as_the_exact_ones_however_far_from_zero(values: list[float], far: float) -> None:
    shifted = [value + far for value in values]
    moments = of(shifted)
    # What is lost of tiny values to underflow is not our subject.
    scale = max(*map(abs, shifted), 1e-100) * len(values)
    assert math.isclose(moments.mean, statistics.fmean(shifted), rel_tol=1e-12, abs_tol=1e-14 * scale)
    assert math.isclose(moments.std, statistics.stdev(shifted), rel_tol=1e-9, abs_tol=1e-13 * scale)


@given(st.lists(st.floats(-(2**53), 2**53)))
def test_the_sum_of_squares_is_never_negative(values: list[float]) -> None:
    assert of(values).m2 >= 0
