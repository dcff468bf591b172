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
        assert same_reply(found, expected), (command, found, expected)
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


def same_reply(found: Any, expected: Any) -> bool:
    if isinstance(found, type) or isinstance(expected, type):
        return found is expected
    return alike(plain(found), plain(expected))


def plain(value: Any) -> Any:
    """A value as plain lists and dictionaries."""
    return msgspec.to_builtins(value)


def alike(found: Any, expected: Any) -> bool:
    """Whether two plain values are the same but for the last digits of numbers: sums in another order differ in those."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(alike(found[key], expected[key]) for key in found)
    if isinstance(found, list | tuple) and isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(map(alike, found, expected))
    if isinstance(found, float) or isinstance(expected, float):
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-7)
    return bool(found == expected)


def said(events: list[tuple[str, Any]]) -> list[str]:
    """Events as sorted texts: which of one command's events comes first is left to the engine."""
    return sorted(json.dumps(event, sort_keys=True) for event in events)


def compare_states(found: StateDump, expected: StateDump, after: Any) -> None:
    """Everything that can be seen must be the same, and sound."""
    assert check(found) == [], after
    for field in found.__struct_fields__:
        assert alike(plain(getattr(found, field)), plain(getattr(expected, field))), (field, after)


def _decoded(event: Event) -> tuple[str, Any]:
    return event.channel, json.loads(event.message) if event.message.startswith("{") else event.message
