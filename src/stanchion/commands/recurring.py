"""Recurring jobs: templates that spawn jobs at their due times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from stanchion.commands.base import Command
from stanchion.commands.kinds import (
    Count,
    CountOrKept,
    Data,
    DataOrKept,
    Interval,
    IntervalOrKept,
    Jid,
    Klass,
    KlassOrKept,
    Number,
    Priority,
    PriorityOrKept,
    Queue,
    QueueOrNone,
    Retries,
    RetriesOrKept,
    Switch,
    Tags,
    ThrottleIds,
)
from stanchion.records import RecurringJob


@dataclass(frozen=True, slots=True)
class Recur(Command[str]):
    """Let a queue spawn a job every ``interval`` seconds, first at ``offset`` seconds from now; the reply is the jid.

    The same jid again replaces the template and keeps its count; with the same queue, interval and offset it keeps its next
    due time too, so that a deploy does not restart the schedule, unless ``restart`` is set. ``backlog`` above 0 skips due
    times further back than that many intervals.
    """

    name: ClassVar[str] = "recur"

    queue: Queue
    jid: Jid
    klass: Klass
    data: Data
    interval: Interval
    offset: Annotated[float, Number(unit="seconds")] = 0.0
    priority: Priority = 0.0
    tags: Tags = ()
    retries: Retries = 0
    backlog: Count = 0
    throttles: ThrottleIds = ()
    restart: Switch = False


@dataclass(frozen=True, slots=True)
class Unrecur(Command[bool]):
    """Stop a recurring job; the reply is true, also when there is none. What it spawned stays."""

    name: ClassVar[str] = "unrecur"

    jid: Jid


@dataclass(frozen=True, slots=True)
class GetRecurring(Command[RecurringJob | None]):
    """The recurring job, or nothing if there is none of that jid."""

    name: ClassVar[str] = "recur.get"
    reads: ClassVar[bool] = True

    jid: Jid


@dataclass(frozen=True, slots=True)
class UpdateRecurring(Command[bool]):
    """Change a recurring job; what is left out stays. A changed interval moves the next due time by the difference, at most
    to one new interval from now, never into the past. The reply is true."""

    name: ClassVar[str] = "recur.update"

    jid: Jid
    priority: PriorityOrKept = None
    interval: IntervalOrKept = None
    retries: RetriesOrKept = None
    data: DataOrKept = None
    klass: KlassOrKept = None
    queue: QueueOrNone = None
    backlog: CountOrKept = None


@dataclass(frozen=True, slots=True)
class TagRecurring(Command[tuple[str, ...]]):
    """Tag a recurring job, and so what it spawns from now on; the reply is all its tags."""

    name: ClassVar[str] = "recur.tag"

    jid: Jid
    tags: Tags


@dataclass(frozen=True, slots=True)
class UntagRecurring(Command[tuple[str, ...]]):
    """Take tags from a recurring job; the reply is the tags left."""

    name: ClassVar[str] = "recur.untag"

    jid: Jid
    tags: Tags
