"""Putting jobs into queues and taking them out of the world: put, put_many, requeue, cancel, timeout, unfail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from stanchion.commands.base import Command
from stanchion.commands.kinds import (
    Count,
    Data,
    DataOrKept,
    Delay,
    Group,
    Jid,
    Jids,
    Kind,
    Klass,
    KlassOrKept,
    Policy,
    PriorityOrKept,
    Queue,
    RetriesOrKept,
    Switch,
    TagsOrKept,
    ThrottleIds,
    ThrottleIdsOrKept,
    WorkerOrEmpty,
)


@dataclass(frozen=True, slots=True)
class Put(Command[str]):
    """Put a new job into a queue, or move and renew an existing one; the reply is its jid.

    ``priority``, ``tags`` and ``retries`` left out are the old job's, else 0, none and 5. ``depends`` replaces the old
    dependencies; only those that exist and are not complete count; left empty, the old unfinished ones stay. With a ``delay``
    in seconds the job waits until then, and after its dependencies if it has both. ``worker`` is who puts: whoever else
    held the job loses its lock. With ``if_absent`` an existing job is left exactly as it is.
    """

    name: ClassVar[str] = "put"

    queue: Queue
    jid: Jid
    klass: Klass
    data: Data = "{}"
    worker: WorkerOrEmpty = ""
    delay: Delay = 0.0
    priority: PriorityOrKept = None
    tags: TagsOrKept = None
    retries: RetriesOrKept = None
    depends: Jids = ()
    throttles: ThrottleIds = ()
    on_dependency_failure: Policy = "wait"
    if_absent: Switch = False

    def check_together(self) -> None:
        if self.jid in self.depends:
            raise self.refuse("depends", f"names the job itself ({self.jid})")


@dataclass(frozen=True, slots=True)
class Requeue(Command[str]):
    """Move an existing job to a queue and renew it, as put does; what is left out stays as it was."""

    name: ClassVar[str] = "requeue"

    queue: Queue
    jid: Jid
    klass: KlassOrKept = None
    data: DataOrKept = None
    worker: WorkerOrEmpty = ""
    delay: Delay = 0.0
    priority: PriorityOrKept = None
    tags: TagsOrKept = None
    retries: RetriesOrKept = None
    depends: Jids = ()
    throttles: ThrottleIdsOrKept = None

    def check_together(self) -> None:
        if self.jid in self.depends:
            raise self.refuse("depends", f"names the job itself ({self.jid})")


@dataclass(frozen=True, slots=True)
class PutMany(Command[tuple[str, ...]]):
    """Put several jobs as one atomic change, in their order; the reply is their jids. All are put, or none."""

    name: ClassVar[str] = "put_many"

    puts: Annotated[tuple[Put, ...], Kind()]

    def check_together(self) -> None:
        object.__setattr__(self, "puts", tuple(self.puts))
        for index, put in enumerate(self.puts):
            if not isinstance(put, Put):
                raise self.refuse("puts", f"holds something that is no Put at index {index}: {put!r:.100}")


@dataclass(frozen=True, slots=True)
class Unfail(Command[int]):
    """Put up to ``count`` failed jobs of a group back to wait in a queue, the longest-failed first; how many were moved."""

    name: ClassVar[str] = "unfail"

    queue: Queue
    group: Group
    count: Count = 25


@dataclass(frozen=True, slots=True)
class Cancel(Command[tuple[str, ...]]):
    """Remove jobs with every trace, all or none; the reply is the jids of all that were removed.

    A job that others wait for can only be canceled together with them, but for those whose policy says what is to happen
    when a dependency is lost. Unknown jids are passed over.
    """

    name: ClassVar[str] = "cancel"

    jids: Jids


@dataclass(frozen=True, slots=True)
class Timeout(Command[None]):
    """Take the lock of running jobs away now: each is stalled, and the first that its queue gives out."""

    name: ClassVar[str] = "timeout"

    jids: Jids
