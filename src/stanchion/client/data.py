"""Python values as JSON texts, and back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

import msgspec

from stanchion.errors import BadArgument


class RawJSON(NamedTuple):
    """A JSON text to be kept byte for byte, where a value would be encoded."""

    text: str


def encode(value: Any, *, command: str, argument: str) -> str:
    """The JSON text of a value: anything JSON has, dataclasses, msgspec and pydantic models, dates, UUIDs, enums, decimals.

    Raises BadArgument where there is none (NaN and infinity, unknown types, circles), which says where in the value it is.
    """
    if isinstance(value, RawJSON):
        return value.text
    try:
        return _encode(value)
    except _NO_JSON as problem:
        place = "" if isinstance(problem, RecursionError) else _place(value)
        text = f"cannot be encoded as JSON{place}: {problem or type(problem).__name__}"
        raise BadArgument(command=command, argument=argument, problem=text) from None


def decode(text: str) -> Any:
    """The value of a JSON text."""
    return json.loads(text)


def names(given: Sequence[str]) -> tuple[str, ...]:
    """A list of names, for a command: which makes the tuple itself, and refuses a single text, being a likely slip."""
    return cast("tuple[str, ...]", given)


_NO_JSON = (TypeError, ValueError, RecursionError, OverflowError)


def _encode(value: Any) -> str:
    plain = msgspec.to_builtins(value, str_keys=True, enc_hook=_hook)
    return json.dumps(plain, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


DEEPEST_PLACE = 8
"""How far into a value the part that has no JSON is looked for."""


def _place(value: Any) -> str:
    """Where the part is that has no JSON, written as in Python; empty where that is all of the value."""
    steps: list[str] = []
    while len(steps) < DEEPEST_PLACE and (found := _culprit(value)) is not None:
        steps.append(found[0])
        value = found[1]
    return f" at {''.join(steps)}" if steps else ""


def _culprit(value: Any) -> tuple[str, Any] | None:
    for step, part in _parts(value):
        try:
            _encode(part)
        except _NO_JSON:
            return step, part
    return None


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", part) for key, part in value.items())
    elif isinstance(value, list | tuple):
        yield from ((f"[{index}]", part) for index, part in enumerate(value))
    elif dataclasses.is_dataclass(value) or isinstance(value, msgspec.Struct):
        fields = getattr(value, "__dataclass_fields__", None) or value.__struct_fields__  # type: ignore[union-attr]
        yield from ((f".{name}", getattr(value, name)) for name in fields)


def _hook(value: Any) -> Any:
    # pydantic's own way to say what a model is in JSON; asked for by name, since pydantic need not be installed.
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError(f"{type(value).__qualname__} is no type that JSON has")
    return dump(mode="json")
