"""A change that mends something, and what it mends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stanchion.engine.contract import Finding
from stanchion.engine.redis.layout import key_of
from stanchion.engine.redis.snapshot import Command, Snapshot

Place = tuple[str, str]
"""A key by its kind and name."""


class Mending(NamedTuple):
    """Commands to be run as one, if the watched keys still hold what they held; and what is wrong, where nothing else tells."""

    watched: tuple[Place, ...]
    commands: tuple[Command, ...]
    findings: tuple[Finding, ...] = ()


class Keys:
    """The keys of a snapshot's namespace, and commands on them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._namespace = snapshot.namespace

    def of(self, kind: str, name: str = "") -> str:
        """A key."""
        return key_of(self._namespace, kind, name)

    def command(self, verb: str, place: Place, *arguments: str | float) -> Command:
        """A command on a key. Numbers are written exactly."""
        return verb, self.of(*place), *(text_of(argument) for argument in arguments)

    def make(self, place: Place, there: set[str], wanted: set[str]) -> Iterator[Command]:
        """Let a set hold what it should."""
        if there - wanted:
            yield self.command("SREM", place, *sorted(there - wanted))
        if wanted - there:
            yield self.command("SADD", place, *sorted(wanted - there))


def text_of(argument: str | float) -> str:
    """An argument as text."""
    return argument if isinstance(argument, str) else repr(argument)
