"""How our own calls reach a server: as functions that it keeps, or, where it is too old for these, through a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from stanchion.engine.redis import library

Command = tuple[str | bytes | float, ...]


class Face(Protocol):
    """What differs between the two."""

    what: ClassVar[str]
    oldest: ClassVar[Mapping[str, tuple[int, int]]]
    """The first version of each product that can have it."""

    def call(self, name: str, reads: bool, namespace: str, *rest: str) -> Command:
        """The call of a command, by the name of its file: its time, token and digest follow, and then its arguments."""

    def question(self, namespace: str) -> Command:
        """Asks which version the server has: ``version`` reads the answer."""

    def version(self, answer: Any) -> int:
        """The version in an answer; 0 for none."""

    def load(self) -> Command:
        """Gives the server what it lacks."""


class Functions:
    """A library of functions: parsed once, kept and replicated by the server."""

    what: ClassVar[str] = "functions"
    oldest: ClassVar[Mapping[str, tuple[int, int]]] = {"redis": (7, 0), "valkey": (7, 2)}

    def call(self, name: str, reads: bool, namespace: str, *rest: str) -> Command:
        return ("FCALL_RO" if reads else "FCALL", f"{library.LIBRARY}_{name}", 1, namespace, *rest)

    def question(self, namespace: str) -> Command:
        return ("FCALL", library.VERSION_FUNCTION, 1, namespace)

    def version(self, answer: Any) -> int:
        return int(answer)

    def load(self) -> Command:
        return ("FUNCTION", "LOAD", "REPLACE", library.text())


class Script:
    """The script of old clients, which answers ours, too: its whole text runs at each call, and a restart forgets it."""

    what: ClassVar[str] = "its script"
    oldest: ClassVar[Mapping[str, tuple[int, int]]] = {"redis": (6, 0), "valkey": (7, 2)}

    def call(self, name: str, reads: bool, namespace: str, *rest: str) -> Command:
        return ("EVALSHA", library.script_digest(), 1, namespace, name, "1" if reads else "0", *rest)

    def question(self, namespace: str) -> Command:
        return ("SCRIPT", "EXISTS", library.script_digest())

    def version(self, answer: Any) -> int:
        return library.VERSION if answer[0] else 0

    def load(self) -> Command:
        return ("SCRIPT", "LOAD", library.script())


FACES: Mapping[str, Face] = {"library": Functions(), "script": Script()}
