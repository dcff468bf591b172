"""Options of the queue."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.rules.config import OPTIONS, QUEUE_OPTIONS, option_of, parse_option, queue_setting, setting

NUMERIC = [name for name, option in OPTIONS.items() if not isinstance(option.default, str)]
OF_QUEUES = [f"mail-{name}" for name in QUEUE_OPTIONS]


def test_the_defaults_of_the_specification() -> None:
    assert {name: option.default for name, option in OPTIONS.items()} == {
        "application": "qless",
        "heartbeat": 60,
        "grace-period": 10,
        "jobs-history": 604800,
        "jobs-history-count": 50000,
        "max-job-history": 100,
        "max-worker-age": 86400,
        "stats-history": 30,
        "histogram-history": 7,
        "max-pop-retry": 1,
    }
    assert all(option.meaning for option in (*OPTIONS.values(), *QUEUE_OPTIONS.values()))


@pytest.mark.parametrize("name", NUMERIC + OF_QUEUES)
@pytest.mark.parametrize(
    "value", ["", "soon", "nan", "inf", "-Infinity", "1e999", math.nan, math.inf, None, True, [1], {}, b"1", 2**54, "1e30"]
)
def test_a_numeric_option_takes_nothing_else(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match="must be a finite number"):
        parse_option(name, value)


@pytest.mark.parametrize(
    ("given_", "kept"), [("30", 30), (" 30.0 ", 30), (30.0, 30), (0.5, 0.5), ("-1", -1), (2**53, 2**53), ("1e3", 1000)]
)
def test_numbers_have_one_form(given_: Any, kept: float) -> None:
    found = parse_option("heartbeat", given_)
    assert (found, type(found)) == (kept, type(kept))


@given(st.floats(-(2**53), 2**53) | st.integers(-(2**53), 2**53))
def test_a_number_stays_the_same(value: float) -> None:
    assert parse_option("heartbeat", value) == parse_option("heartbeat", repr(value)) == value


@pytest.mark.parametrize(("value", "kept"), [("red", "red"), (5, "5"), (0.5, "0.5"), ("nan", "nan")])
def test_options_that_nobody_knows_are_kept_as_text(value: Any, kept: str) -> None:
    for name in ("colour", "application", "heartbeats", "x-max-concurrency-y"):
        assert parse_option(name, value) == kept


@pytest.mark.parametrize("value", [None, True, [], b"x"])
def test_a_text_is_no_other_thing(value: Any) -> None:
    with pytest.raises(ValueError, match="must be a text"):
        parse_option("colour", value)


def test_which_options_are_known() -> None:
    assert option_of("heartbeat") is OPTIONS["heartbeat"]
    assert option_of("mail-heartbeat") is QUEUE_OPTIONS["heartbeat"]
    assert option_of("a-b-max-concurrency") is QUEUE_OPTIONS["max-concurrency"]
    assert option_of("max-concurrency") is None


def test_the_value_of_a_queue_comes_before_the_general_one() -> None:
    assert queue_setting({}, "mail", "heartbeat") == 60
    assert queue_setting({"heartbeat": 5}, "mail", "heartbeat") == 5
    assert queue_setting({"heartbeat": 5, "mail-heartbeat": 0}, "mail", "heartbeat") == 0
    assert queue_setting({"mail-heartbeat": 7}, "post", "heartbeat") == 60
    assert queue_setting({"max-concurrency": "3"}, "mail", "max-concurrency") == 0
    assert queue_setting({"mail-max-concurrency": 3}, "mail", "max-concurrency") == 3
    assert (setting({}, "grace-period"), setting({"grace-period": -1}, "grace-period")) == (10, -1)
