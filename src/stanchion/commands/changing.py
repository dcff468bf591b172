"""Reading and changing single jobs: get, multiget, priority, log, dependencies, tracking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import msgspec

from stanchion.commands.base import Command
from stanchion.commands.kinds import DataOrKept, Jid, Jids, JidsOrAll, Message, Priority
from stanchion.records import Job, TrackedJobs


@dataclass(frozen=True, slots=True)
class Get(Command[Job | None]):
    """The job, or nothing if there is none of that jid."""

    name: ClassVar[str] = "get"
    reads: ClassVar[bool] = True

    jid: Jid


@dataclass(frozen=True, slots=True)
class MultiGet(Command[tuple[Job, ...]]):
    """Those of the jobs that exist, in the order asked."""

    name: ClassVar[str] = "multiget"
    reads: ClassVar[bool] = True

    jids: Jids


@dataclass(frozen=True, slots=True)
class SetPriority(Command[float]):
    """Change a job's priority; it keeps its place in time among its new equals. The reply is the priority."""

    name: ClassVar[str] = "priority"

    jid: Jid
    priority: Priority


@dataclass(frozen=True, slots=True)
class Log(Command[None]):
    """Add an entry to a job's history: ``message`` is what happened, ``data`` a JSON object with more."""

    name: ClassVar[str] = "log"

    jid: Jid
    message: Message
    data: DataOrKept = None

    def check_together(self) -> None:
        # The one JSON text that is decoded: it becomes part of a history entry.
        try:
            msgspec.json.decode(self.data or "null")
        except msgspec.MsgspecError as problem:
            raise self.refuse("data", f"cannot be read back ({problem})") from None


@dataclass(frozen=True, slots=True)
class Depend(Command[bool]):
    """Let a job in the depends state wait for more jobs; the reply is true."""

    name: ClassVar[str] = "depend"

    jid: Jid
    on: Jids

    def check_together(self) -> None:
        if self.jid in self.on:
            raise self.refuse("on", f"names the job itself ({self.jid})")


@dataclass(frozen=True, slots=True)
class Undepend(Command[bool]):
    """Let a job in the depends state no longer wait for some jobs, or for any (None); the reply is true."""

    name: ClassVar[str] = "undepend"

    jid: Jid
    off: JidsOrAll = None


@dataclass(frozen=True, slots=True)
class Track(Command[bool]):
    """Watch a job: it emits events of its own from now on. True if it was not tracked before."""

    name: ClassVar[str] = "track"

    jid: Jid


@dataclass(frozen=True, slots=True)
class Untrack(Command[bool]):
    """Watch a job no longer. True if it was tracked."""

    name: ClassVar[str] = "untrack"

    jid: Jid


@dataclass(frozen=True, slots=True)
class Tracked(Command[TrackedJobs]):
    """The tracked jobs that exist, and the tracked jids that do not."""

    name: ClassVar[str] = "tracked"
    reads: ClassVar[bool] = True
