"""Delays before the next try."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.rules.backoff import LONGEST_DELAY, MAX_DELAY, Backoff, Constant, Exponential, Linear, delay_after

attempts = st.integers(1, 2**53)
positive = st.floats(0, 1e300)


@pytest.mark.parametrize(
    ("backoff", "delays"),
    [
        (Constant(7.5), [7.5, 7.5, 7.5, 7.5]),
        (Linear(10), [10, 20, 30, 40]),
        (Linear(10, cap=25), [10, 20, 25, 25]),
        (Exponential(base=1, factor=2, cap=600, jitter=0), [1, 2, 4, 8]),
        (Exponential(base=3, factor=10, cap=100, jitter=0), [3, 30, 100, 100]),
        (Exponential(base=0, factor=10, jitter=0), [0, 0, 0, 0]),
    ],
)
def test_the_first_delays(backoff: Backoff, delays: list[float]) -> None:
    assert [backoff(attempt) for attempt in range(1, 5)] == delays


@given(attempts, positive, positive, st.floats(0, MAX_DELAY), st.floats(0, 1))
def test_no_attempt_overflows_or_passes_the_cap(attempt: int, base: float, factor: float, cap: float, jitter: float) -> None:
    for backoff in (Linear(base, cap), Exponential(base, factor, cap, jitter)):
        assert 0 <= backoff(attempt) <= cap
    if base == 0:
        assert Exponential(base, factor, cap, jitter)(attempt) == 0


@given(attempts, st.floats(0, 1))
def test_jitter_takes_no_more_than_its_part(attempt: int, jitter: float) -> None:
    whole = Exponential(jitter=0)(attempt)
    assert whole * (1 - jitter) <= Exponential(jitter=jitter)(attempt) <= whole


def test_jitter_is_drawn_anew_each_time() -> None:
    assert len({Exponential()(5) for _ in range(20)}) > 1


@pytest.mark.parametrize(
    ("said", "delay"),
    [
        (5, 5),
        (0.25, 0.25),
        (-1, 0),
        (math.nan, 0),
        (-math.inf, 0),
        (math.inf, LONGEST_DELAY),
        (1e300, LONGEST_DELAY),
        ("2", 2),
    ],
)
def test_a_function_of_the_user_may_say_anything(said: float, delay: float) -> None:
    found = delay_after(lambda attempt: said, 1)
    assert (found, type(found)) == (delay, float)


def test_what_a_function_of_the_user_raises_is_its_callers() -> None:
    with pytest.raises(ZeroDivisionError):
        delay_after(lambda attempt: 1 / 0, 1)
    with pytest.raises(TypeError):
        delay_after(lambda attempt: None, 1)  # type: ignore[arg-type, return-value]
