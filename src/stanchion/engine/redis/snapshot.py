"""All keys of a namespace, read into plain dictionaries.

The reading is a conversation: a generator that yields commands for one pipeline and is sent their replies, so that a caller who
blocks and one who awaits run the same. An error reply is sent as an exception in its place. Replies are those of RESP2.

It reads key after key while others write: what it has is the state of one moment only if nobody did.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from stanchion.engine.redis.layout import UNREAD, found_at

R = TypeVar("R")

Command = tuple[str | bytes | float, ...]
Commands = Sequence[Command]
Talk = Generator[Commands, list[Any], R]
"""A conversation with the server that ends with a result."""

PAGE = 1000
"""The most elements that one command reads."""

KEYS_AT_ONCE = 200
"""Keys that are read in one pipeline: of jobs with a megabyte of data each, that is as much as one would want to hold."""

Value = dict[str, str] | dict[str, float] | set[str] | list[str]

_LIMITS = "th:"  # old scripts let the server remove them

_GONE = "none"  # the type of a key that is not there
_SCANS = {"hash": "HSCAN", "set": "SSCAN", "zset": "ZSCAN"}
_EMPTY: dict[str, type] = {"hash": dict, "set": set, "zset": dict, "list": list}


class Snapshot:
    """What the keys hold: by kind and name (see ``layout``), with texts as they are. Bytes that are not UTF-8 are escaped."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.time = 0.0
        """The server's clock when the reading began."""
        self.wrong: dict[str, str] = {}
        """Keys that have another type than they must, and which."""
        self.expiring: dict[str, float] = {}
        """Keys that the server will remove, and when."""
        self.made: dict[str, Any] = {}
        """What is made of it once, and asked for often."""
        self._values: dict[str, dict[str, Any]] = {}

    def all(self, kind: str) -> dict[str, Any]:
        """The values of a kind, by name."""
        return self._values.setdefault(kind, {})

    def get(self, kind: str, name: str = "") -> Any:
        """One value of a kind; empty (and not to be changed) if there is none."""
        return self._values.get(kind, {}).get(name) or {}

    def note(self, key: str, type: str, expires: float) -> tuple[str, str] | None:
        """Note what a key is; whose value it has, if that is to be read."""
        if type == _GONE:
            return None
        if expires >= 0:
            self.expiring[key] = expires
        found = found_at(key.removeprefix(self.namespace), type)
        if found is None:
            return None
        if not found.sound:
            self.wrong[key] = type
            return None
        return None if found.kind in UNREAD else (found.kind, found.name)


def read(namespace: str, *, expiries: bool = False) -> Talk[Snapshot]:
    """Read everything under a namespace; with ``expiries`` also which keys the server will remove, besides limits."""
    snapshot = Snapshot(namespace)
    ((seconds, microseconds),) = yield [("TIME",)]
    snapshot.time = int(seconds) + int(microseconds) / 1e6
    for some in (yield from scan(namespace)):
        yield from read_keys(snapshot, some, expiries=expiries)
    return snapshot


def scan(namespace: str) -> Talk[list[list[bytes]]]:
    """The keys under a namespace, in lists of as many as are to be read at once."""
    pattern = _escaped(namespace) + "*"
    found: dict[bytes, None] = {}  # a key can come twice
    cursor = b"0"
    while True:
        ((cursor, keys),) = yield [("SCAN", cursor, "MATCH", pattern, "COUNT", PAGE)]
        found.update(dict.fromkeys(keys))
        if cursor == b"0":
            return list(_batches(found, KEYS_AT_ONCE))


def read_keys(snapshot: Snapshot, keys: Sequence[bytes], *, expiries: bool = False) -> Talk[None]:
    """Read what some keys hold, as far as they are there, into the snapshot."""
    limits = bytes_of(snapshot.namespace + _LIMITS)
    asked = [key for key in keys if expiries or key.startswith(limits)]
    replies = yield [("TYPE", key) for key in keys]
    ends = yield from _ends(asked)
    open_values: dict[bytes, _Reading] = {}
    for key, type_name in zip(keys, replies, strict=False):
        type_ = _text(type_name)
        whose = snapshot.note(text_of(key), type_, ends.get(key, -1) / 1000)
        if whose:
            open_values[key] = _Reading(type_, key, whose)
    while open_values:
        replies = yield [reading.next_page() for reading in open_values.values()]
        for reading, reply in zip(list(open_values.values()), replies, strict=True):
            if reading.take(reply):
                del open_values[reading.key]
                if reading.value:
                    kind, name = reading.whose
                    snapshot.all(kind)[name] = reading.value


def _ends(keys: Sequence[bytes]) -> Talk[dict[bytes, int]]:
    """When keys end, in milliseconds since the epoch; a negative number if they do not. Redis 6 tells only how long they last."""
    if not keys:
        return {}
    replies = yield [("PEXPIRETIME", key) for key in keys]
    if isinstance(replies[0], Exception):
        (seconds, microseconds), *left = yield [("TIME",), *(("PTTL", key) for key in keys)]
        now = int(seconds) * 1000 + int(microseconds) // 1000
        replies = [lasts if lasts < 0 else now + lasts for lasts in left]
    return dict(zip(keys, replies, strict=True))


def text_of(raw: bytes) -> str:
    """Bytes as text, without loss: what is not UTF-8 is escaped."""
    return raw.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """The bytes that a text was read from."""
    return text.encode("utf-8", "surrogateescape")


class _Reading:
    """A value that is being read, page by page."""

    def __init__(self, type: str, key: bytes, whose: tuple[str, str]) -> None:
        self.key = key
        self.whose = whose
        self.value: Any = _EMPTY[type]()
        self._type = type
        self._cursor: Any = 0

    def next_page(self) -> Command:
        if self._type == "list":
            return "LRANGE", self.key, self._cursor, self._cursor + PAGE - 1
        return _SCANS[self._type], self.key, self._cursor, "COUNT", PAGE

    def take(self, reply: Any) -> bool:
        """Take a page; True if it was the last."""
        if isinstance(reply, Exception):
            # Meanwhile somebody has put something else there: what the key is now, the next reading tells.
            if "WRONGTYPE" not in str(reply):
                raise reply
            self.value = None
            return True
        if self._type == "list":
            self.value += [text_of(element) for element in reply]
            self._cursor += PAGE
            return len(reply) < PAGE
        self._cursor, elements = reply
        self._add([text_of(element) for element in elements])
        return bool(self._cursor == b"0")

    def _add(self, elements: list[str]) -> None:
        if self._type == "set":
            self.value.update(elements)
        elif self._type == "hash":
            self.value.update(_pairs(elements))
        else:
            self.value.update((member, float(score)) for member, score in _pairs(elements))


def _pairs(flat: list[str]) -> Iterator[tuple[str, str]]:
    return zip(flat[::2], flat[1::2], strict=True)


def _text(reply: bytes | str) -> str:
    return reply.decode() if isinstance(reply, bytes) else reply


def _escaped(text: str) -> str:
    """A text as the pattern that only it matches."""
    return "".join(f"\\{character}" if character in "*?[]^\\" else character for character in text)


def _batches(items: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    left = iter(items)
    while some := list(islice(left, size)):
        yield some
