"""Comparing an engine with the model: replies, errors, events, and the whole state."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import msgspec

from stanchion import commands as c
from stanchion.engine.contract import Engine, StateDump
from stanchion.engine.invariants import check
from stanchion.errors import StanchionError
from stanchion.records import Event
from tests.model.naive import Naive


class Pair:
    """An engine and a model that have run the same commands."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.model = Naive()
        self._heard = engine.subscribe(["*"])

    def step(self, command: c.Command[Any], now: float, run: Callable[..., Any] | None = None) -> Any:
        """Run a command on both; they must answer, publish and be the same. ``run`` stands in for the engine's."""
        expected = reply_of(self.model.run, command, now)
        found = reply_of(run or self.engine.run, command, now)
        assert (found == expected) if refused(found) or refused(expected) else plain(found) == plain(expected), command
        assert self.heard() == said(self.model.events), command
        compare_states(self.engine.dump(now=now), self.model.dump(now), command)
        return found

    def heard(self) -> list[str]:
        """What the engine published since the last time, sorted."""
        found = []
        while (event := self._heard.get(0)) is not None:
            found.append(event)
        return said([_decoded(event) for event in found])

    def close(self) -> None:
        self._heard.close()


def reply_of(run: Callable[..., Any], command: c.Command[Any], now: float) -> Any:
    """The reply, or the class of the error."""
    try:
        return run(command, now=now)
    except StanchionError as error:
        return type(error)


def refused(reply: Any) -> bool:
    return isinstance(reply, type)


def plain(value: Any) -> Any:
    """A value as plain lists and dictionaries, numbers rounded: sums in another order differ in the last digits."""
    return _rounded(msgspec.to_builtins(value))


def said(events: list[tuple[str, Any]]) -> list[str]:
    """Events as sorted texts: which of one command's events comes first is left to the engine."""
    return sorted(json.dumps(event, sort_keys=True) for event in events)


def compare_states(found: StateDump, expected: StateDump, after: Any) -> None:
    """Everything that can be seen must be the same, and sound."""
    assert check(found) == [], after
    for field in found.__struct_fields__:
        assert plain(getattr(found, field)) == plain(getattr(expected, field)), (field, after)


def _decoded(event: Event) -> tuple[str, Any]:
    return event.channel, json.loads(event.message) if event.message.startswith("{") else event.message


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return 0.0 if value == 0 else round(value, 9 - math.floor(math.log10(abs(value))) - 1)
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return value
