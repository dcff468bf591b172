"""Is it JSON?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stanchion.rules.jsontext import MAX_DEPTH, json_problem, nesting

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
pieces = st.sampled_from(
    [*'[]{}:,"\\ -+.eE0189aftn', "true", "null", '"a"', "\\u12aB", "\\ud800", "\t", "\x01", "é", "NaN", "1"]
)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "0",
            "-0",
            "1e5",
            "1E-5",
            "-1.5e+10",
            "1e999",
            "7" * 5000,
            "true",
            "false",
            "null",
            "[]",
            "{}",
            ' [1 ,2 ]\r\n\t"'[:-1],
        ),
        *('""', '"\\ud800"', '"\\u0000"', '"\x7f"', '"\U0001f600"', '{"a":1,"a":2}', '"\\/\\b\\f\\n\\r\\t\\"\\\\"'),
    ],
)
def test_json(text: str) -> None:
    assert json_problem(text) is None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "01",
            "1.",
            ".5",
            "+1",
            "-",
            "--1",
            "0x1",
            "1e",
            "1e+",
            "NaN",
            "Infinity",
            "-Infinity",
            "tru",
            "nul",
            "True",
        ),
        *("[", "[1,]", "[1 2]", "[,1]", "]", '{"a":1,}', "{a:1}", '{"a" 1}', "{1:2}", "1 1", "[1] 2", "//1", "[NaN]"),
        *("'x'", '"\x01"', '"a\tb"', '"\\x"', '"\\u12"', '"abc', "\ufeff1", "\u00a01", "\x00", "[\x0b1]"),
    ],
)
def test_not_json(text: str) -> None:
    assert (json_problem(text) or "").startswith("is not JSON")


def test_a_lone_surrogate_is_told() -> None:
    assert json_problem('"\ud800"') == "holds a lone surrogate, which UTF-8 cannot encode"


@pytest.mark.slow
@given(values, st.booleans())
def test_whatever_is_encoded_is_json(value: Any, ascii_only: bool) -> None:
    assert json_problem(json.dumps(value, ensure_ascii=ascii_only)) is None


@given(st.lists(pieces, max_size=12).map("".join))
def test_the_standard_library_agrees_on_any_text(text: str) -> None:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse, parse_int=str)
        is_json = True
    except ValueError:
        is_json = False
    assert (json_problem(text) is None) == is_json


@pytest.mark.slow
@given(values)
def test_nesting_is_the_depth_of_the_value(value: Any) -> None:
    def depth(value: Any) -> int:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
        return 0 if inner is None else 1 + max(map(depth, inner), default=0)

    assert nesting(json.dumps(value)) == nesting(json.dumps(value, ensure_ascii=False)) == depth(value)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"[":', "}]")])
def test_depth_is_limited(opening: str, closing: str) -> None:
    levels = MAX_DEPTH // nesting(opening)
    assert json_problem(opening * levels + "1" + closing * levels) is None
    assert json_problem(opening * (levels + 1) + "1" + closing * (levels + 1)) == "is nested deeper than 500"


@pytest.mark.parametrize(
    "text", ["[" * 10**6, '{"a":' * 10**5, "[" * 5 * 10**5 + "]" * 5 * 10**5, '"\\ud800"' + "[" * 10**5]
)
def test_no_depth_exhausts_the_stack(text: str) -> None:
    assert json_problem(text) == "is nested deeper than 500"


def test_brackets_in_strings_do_not_nest() -> None:
    assert json_problem(json.dumps(["[{" * 1000, '\\"[' * 1000, "\\" * 3, "[" * 1000])) is None


def test_many_lists_beside_one_another_are_not_deep() -> None:
    assert json_problem("[" + "[],{}," * 100_000 + "0]") is None
