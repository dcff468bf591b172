"""Is a text JSON? It is only asked, never decoded and encoded again: data is kept byte for byte.

What JSON is, says RFC 8259.
"""

from __future__ import annotations

import json
from itertools import accumulate

import msgspec

MAX_DATA_BYTES = 1_000_000
"""The longest data, result or message, in UTF-8 bytes."""

MAX_DEPTH = 500
"""How deep lists and objects may nest: well inside what readers in other languages take (cjson: 1,000)."""

_decoder = msgspec.json.Decoder(msgspec.Raw)
_STEPS = bytes.maketrans(b"[]{}", b"\x01\xff\x01\xff")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def json_problem(text: str) -> str | None:
    """What is wrong with a JSON text, as a text that follows the argument's name; None if it is JSON.

    Strict: NaN and Infinity are not JSON. Whole numbers may be of any size. Nesting is limited to ``MAX_DEPTH``.
    """
    # The depth comes first, since both decoders recurse, and how far they get depends on the caller's stack.
    if text.count("[") + text.count("{") > MAX_DEPTH and nesting(text) > MAX_DEPTH:
        return f"is nested deeper than {MAX_DEPTH}"
    try:
        # msgspec.Raw skips over the value without building it, but checks it all.
        _decoder.decode(text)
    except UnicodeEncodeError:
        return "holds a lone surrogate, which UTF-8 cannot encode"
    except msgspec.DecodeError:
        return _second_opinion(text)
    return None


def _second_opinion(text: str) -> str | None:
    """msgspec refuses the escape of a lone surrogate, which is JSON all the same, and what Python's own encoder writes."""
    try:
        json.loads(text, parse_constant=_no_number, parse_int=str)
    except ValueError as problem:
        return f"is not JSON ({problem})"
    return None


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def nesting(text: str) -> int:
    """How deep the lists and objects of a JSON text nest; of a text that is not JSON, no less than a decoder would go.

    By operations on the whole text, since a loop over a million characters would take a tenth of a second: its strings go,
    and all but its brackets; an opening one becomes the signed byte 1, a closing one -1; their running sum is the depth.
    """
    unescaped = text.encode("utf-8", "surrogatepass").replace(b"\\\\", b"").replace(b'\\"', b"")
    steps = b"".join(unescaped.split(b'"')[::2]).translate(_STEPS, _NO_BRACKETS)
    return max(accumulate(memoryview(steps).cast("b"), initial=0))
