"""Python values as JSON texts, and back."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import msgspec

from stanchion.errors import BadArgument


class RawJSON(NamedTuple):
    """A JSON text to be kept byte for byte, where a value would be encoded."""

    text: str


def encode(value: Any, *, command: str, argument: str) -> str:
    """The JSON text of a value: anything JSON has, dataclasses, msgspec and pydantic models, dates, UUIDs, enums, decimals.

    Raises BadArgument where there is none: NaN and infinity, unknown types, circles.
    """
    if isinstance(value, RawJSON):
        return value.text
    try:
        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=_hook)
        return json.dumps(plain, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError, OverflowError) as problem:
        text = f"cannot be encoded as JSON: {problem or type(problem).__name__}"
        raise BadArgument(command=command, argument=argument, problem=text) from None


def decode(text: str) -> Any:
    """The value of a JSON text."""
    return json.loads(text)


def _hook(value: Any) -> Any:
    # pydantic's own way to say what a model is in JSON; asked for by name, since pydantic need not be installed.
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError(f"{type(value).__qualname__} is no type that JSON has")
    return dump(mode="json")
