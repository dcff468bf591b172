"""The kinds of argument: what each may be, said once, for the checks, the reference and the tests that draw commands.

A kind's ``check`` returns the value in its one form, or raises ValueError with a text that follows the argument's name
("must not be empty").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

from stanchion.records import DependencyPolicy
from stanchion.rules.config import MOST
from stanchion.rules.jsontext import MAX_DATA_BYTES, json_problem
from stanchion.rules.names import name_problem
from stanchion.rules.recurrence import SHORTEST_INTERVAL


@dataclass(frozen=True)
class Kind:
    """Anything. ``optional`` kinds take None for "not given"."""

    optional: bool = False

    @property
    def says(self) -> str:
        """What it may be, for people."""
        return "anything"

    def check(self, value: Any) -> Any:
        if value is None and self.optional:
            return None
        return self.checked(value)

    def checked(self, value: Any) -> Any:
        return value


@dataclass(frozen=True)
class Name(Kind):
    """A name: jid, queue, worker, tag, group, throttle id or configuration option."""

    what: str = "name"
    may_be_empty: bool = False

    @property
    def says(self) -> str:
        return f"a {self.what}" + (" or an empty text" if self.may_be_empty else "")

    def checked(self, value: Any) -> str:
        if value == "" and self.may_be_empty:
            return ""
        problem = name_problem(value)
        if problem:
            raise ValueError(problem)
        return str(value)


@dataclass(frozen=True)
class Names(Kind):
    """A list of names without repeats: the first of equals stays. A single text is refused, being a likely slip."""

    what: str = "name"

    @property
    def says(self) -> str:
        return f"a list of {self.what}s"

    def checked(self, value: Any) -> tuple[str, ...]:
        if isinstance(value, str) or not hasattr(value, "__iter__"):
            raise ValueError(f"must be a list of {self.what}s, not {value!r:.100}")
        names = tuple(dict.fromkeys(value))
        for name in names:
            problem = name_problem(name)
            if problem:
                raise ValueError(f"holds {name!r:.100}, which {problem}")
        return value if type(value) is tuple and len(value) == len(names) else names


@dataclass(frozen=True)
class Text(Kind):
    """Any text that UTF-8 can hold, up to ``MAX_DATA_BYTES``."""

    @property
    def says(self) -> str:
        return "a text"

    def checked(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError(f"must be a text, not {type(value).__name__}")
        _size(value)
        return value


@dataclass(frozen=True)
class Json(Text):
    """A JSON text, kept byte for byte."""

    @property
    def says(self) -> str:
        return "a JSON text"

    def checked(self, value: Any) -> str:
        text = super().checked(value)
        problem = json_problem(text)
        if problem:
            raise ValueError(problem)
        return text


@dataclass(frozen=True)
class Number(Kind):
    """A finite number, at least ``least``."""

    least: float = -math.inf
    unit: str = ""

    @property
    def says(self) -> str:
        bound = "" if self.least == -math.inf else f" of at least {self.least:g}"
        return f"a number{f' of {self.unit}' if self.unit else ''}{bound}"

    def checked(self, value: Any) -> float:
        if type(value) not in (int, float):
            raise ValueError(f"must be a number, not {value!r:.100}")
        if not math.isfinite(value) or abs(value) > MOST:
            raise ValueError(f"must be a finite number within 2^53, not {value!r:.100}")
        if value < self.least:
            raise ValueError(f"must be {self.says}, not {value!r}")
        number: float = value
        return number


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number from ``least`` to ``most``."""

    least: int = 0
    most: int = MOST

    @property
    def says(self) -> str:
        return f"a whole number of at least {self.least}"

    def checked(self, value: Any) -> int:
        if type(value) is not int:
            raise ValueError(f"must be a whole number, not {value!r:.100}")
        if not self.least <= value <= self.most:
            raise ValueError(f"must be a whole number from {self.least} to {self.most}, not {value!r:.100}")
        return value


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    @property
    def says(self) -> str:
        return "true or false"

    def checked(self, value: Any) -> bool:
        if type(value) is not bool:
            raise ValueError(f"must be true or false, not {value!r:.100}")
        return value


@dataclass(frozen=True)
class OneOf(Kind):
    """One of a few words."""

    words: tuple[str, ...] = ()

    @property
    def says(self) -> str:
        return "one of " + ", ".join(self.words)

    def checked(self, value: Any) -> str:
        if value not in self.words:
            raise ValueError(f"must be {self.says}, not {value!r:.100}")
        return str(value)


def _size(text: str) -> None:
    # A text of n characters has at most 4 n bytes: the encoding is only made where the bound could be passed.
    if len(text) * 4 <= MAX_DATA_BYTES and text.isascii():
        return
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ValueError("holds a lone surrogate, which UTF-8 cannot encode") from None
    if size > MAX_DATA_BYTES:
        raise ValueError(f"is {size} bytes long; the most is {MAX_DATA_BYTES}")


Jid = Annotated[str, Name(what="job id")]
JidOrAll = Annotated[str | None, Name(what="job id", optional=True)]
Jids = Annotated[tuple[str, ...], Names(what="job id")]
JidsOrAll = Annotated[tuple[str, ...] | None, Names(what="job id", optional=True)]
Klass = Annotated[str, Name(what="klass")]
KlassOrKept = Annotated[str | None, Name(what="klass", optional=True)]
Queue = Annotated[str, Name(what="queue")]
QueueOrNone = Annotated[str | None, Name(what="queue", optional=True)]
Queues = Annotated[tuple[str, ...], Names(what="queue")]
Worker = Annotated[str, Name(what="worker")]
WorkerOrEmpty = Annotated[str, Name(what="worker", may_be_empty=True)]
Workers = Annotated[tuple[str, ...], Names(what="worker")]
Group = Annotated[str, Name(what="failure group")]
GroupOrNone = Annotated[str | None, Name(what="failure group", optional=True)]
Tag = Annotated[str, Name(what="tag")]
Tags = Annotated[tuple[str, ...], Names(what="tag")]
TagsOrKept = Annotated[tuple[str, ...] | None, Names(what="tag", optional=True)]
ThrottleId = Annotated[str, Name(what="throttle")]
ThrottleIds = Annotated[tuple[str, ...], Names(what="throttle")]
ThrottleIdsOrKept = Annotated[tuple[str, ...] | None, Names(what="throttle", optional=True)]
Option = Annotated[str, Name(what="configuration option")]
Message = Annotated[str, Text()]
MessageOrNone = Annotated[str | None, Text(optional=True)]
Data = Annotated[str, Json()]
DataOrKept = Annotated[str | None, Json(optional=True)]
Delay = Annotated[float, Number(least=0, unit="seconds")]
Interval = Annotated[float, Number(least=SHORTEST_INTERVAL, unit="seconds")]
IntervalOrKept = Annotated[float | None, Number(least=SHORTEST_INTERVAL, unit="seconds", optional=True)]
Priority = Annotated[float, Number()]
PriorityOrKept = Annotated[float | None, Number(optional=True)]
Retries = Annotated[int, Whole(least=-1)]
RetriesOrKept = Annotated[int | None, Whole(least=-1, optional=True)]
Count = Annotated[int, Whole()]
CountOrKept = Annotated[int | None, Whole(optional=True)]
Attempt = Annotated[int | None, Whole(optional=True)]
TimeOrNow = Annotated[float | None, Number(optional=True, unit="seconds since the epoch")]
Switch = Annotated[bool, Flag()]
Policy = Annotated[DependencyPolicy, OneOf(words=("wait", "run", "fail", "cancel"))]
