"""What a name may be."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.rules.names import MAX_NAME_BYTES, name_problem


@pytest.mark.parametrize(
    "name", ["a", " ", "..", "a/b?c=d&e", "x" * MAX_NAME_BYTES, "é" * 512, "💥" * 256, "\n", "\x7f", "null"]
)
def test_names(name: str) -> None:
    assert name_problem(name) is None


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("", "must not be empty"),
        ("a\0", "NUL"),
        ("a\ud800", "lone surrogate"),
        ("x" * (MAX_NAME_BYTES + 1), "1025 bytes long; the most is 1024"),
        ("é" * 513, "1026 bytes"),
        ("💥" * 257, "1028 bytes"),
        (None, "must be a text, not NoneType"),
        (b"a", "must be a text, not bytes"),
        (1, "must be a text, not int"),
    ],
)
def test_what_is_no_name(value: Any, problem: str) -> None:
    assert problem in (name_problem(value) or "")


@given(st.text(st.characters(), max_size=2000))
def test_a_name_is_what_utf_8_holds_within_the_length(text: str) -> None:
    try:
        fits = 0 < len(text.encode()) <= MAX_NAME_BYTES and "\0" not in text
    except UnicodeEncodeError:
        fits = False
    assert (name_problem(text) is None) == fits
