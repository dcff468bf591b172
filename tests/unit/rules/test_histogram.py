"""The buckets of the statistics."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.rules.histogram import BUCKETS, LABELS, STARTS, bucket, quantile
from tests.unit.rules.golden import cases

histograms = st.lists(st.integers(0, 5), min_size=BUCKETS, max_size=BUCKETS)


@pytest.mark.parametrize("case", cases("histogram"), ids=lambda case: str(case["seconds"]))
def test_golden(case: Any) -> None:
    assert bucket(case["seconds"]) == case["bucket"]
    assert LABELS[case["bucket"]] == case["label"]


def test_every_bucket_starts_where_the_one_before_ends() -> None:
    assert len(STARTS) == len(LABELS) == len(set(LABELS)) == BUCKETS == 148
    assert [bucket(start) for start in STARTS] == list(range(BUCKETS))
    widths = [after - before for before, after in pairwise(STARTS)]
    assert widths == [1] * 60 + [60] * 59 + [3600] * 23 + [86400] * 5


@given(st.floats(-(2**53), 2**53))
def test_a_duration_is_not_before_the_start_of_its_bucket_nor_after_its_end(seconds: float) -> None:
    found = bucket(seconds)
    assert seconds >= STARTS[found] or found == 0
    assert found == BUCKETS - 1 or seconds < STARTS[found + 1]


@pytest.mark.slow
@given(histograms, st.floats(0, 1))
def test_a_quantile_is_the_start_of_a_bucket_with_enough_below_it(histogram: list[int], q: float) -> None:
    found = quantile(histogram, q)
    if not any(histogram):
        assert found == 0
        return
    index = STARTS.index(int(found))
    assert histogram[index] > 0
    assert sum(histogram[: index + 1]) >= q * sum(histogram)
    assert sum(histogram[:index]) < q * sum(histogram) or not any(histogram[:index])


@pytest.mark.parametrize(("q", "seconds"), [(0, 1), (0.25, 1), (0.5, 2), (0.51, 3600), (0.99, 3600), (1, 518400)])
def test_quantiles_of_a_small_histogram(q: float, seconds: float) -> None:
    histogram = [0] * BUCKETS
    for duration, count in ((1, 50), (2, 50), (3700, 99), (10**7, 1)):
        histogram[bucket(duration)] = count
    assert quantile(histogram, q) == seconds
