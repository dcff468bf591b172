"""Which keys there are under a namespace: the kind of each by its name and type, and the key of each kind."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of key: the type it must have, and what stands before and after the name in it."""

    type: str
    prefix: str
    suffix: str = ""


class Found(NamedTuple):
    """What a key is: its kind, whose it is ("" for the kinds that are one key), and whether its type is right."""

    kind: str
    name: str
    sound: bool


KINDS: dict[str, Kind] = {
    "job": Kind("hash", "j:"),
    "history": Kind("list", "j:", "-history"),
    "dependencies": Kind("set", "j:", "-dependencies"),
    "dependents": Kind("set", "j:", "-dependents"),
    "template": Kind("hash", "r:"),
    "work": Kind("zset", "q:", "-work"),
    "locks": Kind("zset", "q:", "-locks"),
    "scheduled": Kind("zset", "q:", "-scheduled"),
    "depends": Kind("zset", "q:", "-depends"),
    "throttled": Kind("zset", "q:", "-throttled"),
    "recur": Kind("zset", "q:", "-recur"),
    "held_by": Kind("zset", "w:", ":jobs"),
    "tagged": Kind("zset", "t:"),
    "failed": Kind("list", "f:"),
    "throttle": Kind("hash", "th:"),
    "places": Kind("zset", "th:", "-locks"),
    "pending": Kind("zset", "th:", "-pending"),
    "wait": Kind("hash", "s:wait:"),
    "run": Kind("hash", "s:run:"),
    "counters": Kind("hash", "s:stats:"),
    "line": Kind("zset", "x:line:"),
    "lines": Kind("set", "x:lines:"),
    "held": Kind("zset", "x:held:"),
    "sets": Kind("set", "x:sets:"),
    "concerned": Kind("set", "x:concerned:"),
    "tokens": Kind("hash", "x:tokens:"),
    "wake": Kind("list", "x:wake:"),
}
"""Kinds of which there is a key for each name. A name of two parts has a NUL between them."""

SINGLES: dict[str, str] = {
    "queues": "zset",
    "paused_queues": "set",
    "workers": "zset",
    "completed": "zset",
    "tracked": "zset",
    "tags": "zset",
    "failures": "set",
    "config": "hash",
    "x:engine": "hash",
    "x:releases": "set",
    "x:throttles": "set",
    "x:expiring": "zset",
    "x:days": "zset",
    "x:histograms": "zset",
    "x:generations": "zset",
}
"""Kinds that are one key, and its type."""

UNREAD = frozenset({"tokens", "wake", "x:generations"})
"""Kinds that are no part of the state."""

SHARED_ENDINGS: dict[str, tuple[str, ...]] = {
    "job": ("-history", "-dependencies", "-dependents"),
    "throttle": ("-locks", "-pending"),
}
"""A job or throttle with such a name would share its key with a collection of another: none is put."""

BY_QUEUE = ("work", "locks", "scheduled", "depends", "throttled", "recur")
"""The kinds that are a queue's collections."""


def key_of(namespace: str, kind: str, name: str = "") -> str:
    """The key of a kind and name."""
    if kind in SINGLES:
        return namespace + kind
    return f"{namespace}{KINDS[kind].prefix}{name}{KINDS[kind].suffix}"


def found_at(key: str, type: str) -> Found | None:
    """What a key is, given without its namespace; None if it is none of ours, or nothing that shows in the state.

    A job may be named like another job's history: what tells them apart is the type.
    """
    if key in SINGLES:
        return Found(key, "", SINGLES[key] == type)
    could_be = [kind for kind in _BY_HEAD.get(key.partition(":")[0], ()) if _fits(KINDS[kind], key)]
    for kind in could_be:
        if KINDS[kind].type == type:
            return Found(kind, _name(KINDS[kind], key), True)
    return Found(could_be[0], _name(KINDS[could_be[0]], key), False) if could_be else None


_BY_HEAD: dict[str, list[str]] = {}
"""Kinds by what stands before the first colon, those with an ending first."""
for _kind in sorted(KINDS, key=lambda kind: not KINDS[kind].suffix):
    _BY_HEAD.setdefault(KINDS[_kind].prefix.partition(":")[0], []).append(_kind)


def _fits(kind: Kind, key: str) -> bool:
    return key.startswith(kind.prefix) and key.endswith(kind.suffix) and len(key) >= len(kind.prefix) + len(kind.suffix)


def _name(kind: Kind, key: str) -> str:
    return key[len(kind.prefix) : len(key) - len(kind.suffix)]
