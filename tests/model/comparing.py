"""Comparing an engine with the model: replies, errors, and the whole state."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from stanchion import commands as c
from stanchion.engine.contract import Engine, StateDump
from stanchion.engine.invariants import check
from stanchion.errors import StanchionError
from tests.model.naive import Naive


def reply_of(run: Any, command: c.Command[Any], now: float) -> Any:
    """The reply, or the class of the error."""
    try:
        return run(command, now=now)
    except StanchionError as error:
        return type(error)


def plain(value: Any) -> Any:
    """A value as plain lists and dictionaries, numbers rounded: sums in another order differ in the last digits."""
    return _rounded(msgspec.to_builtins(value))


def step(engine: Engine, model: Naive, command: c.Command[Any], now: float) -> None:
    """Run one command on both; they must answer alike and be in the same state after it."""
    expected = reply_of(model.run, command, now)
    found = reply_of(engine.run, command, now)
    if isinstance(expected, type) or isinstance(found, type):
        assert found == expected, command
    else:
        assert plain(found) == plain(expected), command
    compare_states(engine.dump(now=now), model.dump(now), command)


def compare_states(found: StateDump, expected: StateDump, after: Any) -> None:
    """Everything that can be seen must be the same, and sound."""
    assert check(found) == [], after
    for field in found.__struct_fields__:
        assert plain(getattr(found, field)) == plain(getattr(expected, field)), (field, after)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return 0.0 if value == 0 else round(value, 9 - math.floor(math.log10(abs(value))) - 1)
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return value
