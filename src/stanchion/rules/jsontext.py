"""Is a text JSON? It is only asked, never decoded and encoded again: data is kept byte for byte."""

from __future__ import annotations

import json

import msgspec

MAX_DATA_BYTES = 1_000_000
"""The longest data, result or message, in UTF-8 bytes."""

MAX_DEPTH = 500
"""How deep lists and objects may nest: well inside what readers in other languages take (cjson: 1,000)."""

_decoder = msgspec.json.Decoder(msgspec.Raw)


def json_problem(text: str) -> str | None:
    """What is wrong with a JSON text, as a text that follows the argument's name; None if it is JSON.

    Strict: NaN and Infinity are not JSON. Whole numbers may be of any size. Nesting is limited to ``MAX_DEPTH``.
    """
    try:
        # msgspec.Raw skips over the value without building it, but checks it all.
        _decoder.decode(text)
    except UnicodeEncodeError:
        return "holds a lone surrogate, which UTF-8 cannot encode"
    except msgspec.DecodeError:
        problem = _second_opinion(text)
        if problem:
            return problem
    if text.count("[") + text.count("{") > MAX_DEPTH and nesting(text) > MAX_DEPTH:
        return f"is nested deeper than {MAX_DEPTH}"
    return None


def _second_opinion(text: str) -> str | None:
    """msgspec refuses the escape of a lone surrogate, which is JSON all the same, and what Python's own encoder writes."""
    try:
        json.loads(text, parse_constant=_no_number, parse_int=str)
    except RecursionError:
        return f"is nested deeper than {MAX_DEPTH}"
    except ValueError as problem:
        return f"is not JSON ({problem})"
    return None


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def nesting(text: str) -> int:
    """How deep the lists and objects of a JSON text nest."""
    depth = deepest = 0
    in_string = escaped = False
    for character in text:
        if in_string:
            in_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest
