"""Taking work and settling it: pop, peek, heartbeat, complete, complete_many, fail, retry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from stanchion.commands.base import Command
from stanchion.commands.kinds import (
    Attempt,
    Count,
    DataOrKept,
    Delay,
    Group,
    GroupOrNone,
    Jid,
    Jids,
    Kind,
    Message,
    MessageOrNone,
    Queue,
    QueueOrNone,
    Switch,
    Worker,
)
from stanchion.records import Job


@dataclass(frozen=True, slots=True)
class Pop(Command[tuple[Job, ...]]):
    """Give up to ``count`` jobs of a queue to a worker, each under a lock that lapses unless it is renewed."""

    name: ClassVar[str] = "pop"

    queue: Queue
    worker: Worker
    count: Count = 1


@dataclass(frozen=True, slots=True)
class Peek(Command[tuple[Job, ...]]):
    """Show what pop would give, without locking anything."""

    name: ClassVar[str] = "peek"

    queue: Queue
    count: Count = 1


@dataclass(frozen=True, slots=True)
class Heartbeat(Command[float]):
    """Renew the lock of a running job; the reply is when it will lapse."""

    name: ClassVar[str] = "heartbeat"

    jid: Jid
    worker: Worker
    data: DataOrKept = None
    attempt: Attempt = None


@dataclass(frozen=True, slots=True)
class Complete(Command[str]):
    """Finish a running job, or with ``next`` send it on to that queue; the reply is its new state.

    ``data`` left out stays as it was. ``result`` is a JSON text kept with the job. ``delay`` and ``depends`` go with ``next``.
    ``attempt``, if given, must be the job's.
    """

    name: ClassVar[str] = "complete"

    jid: Jid
    worker: Worker
    queue: Queue
    data: DataOrKept = None
    next: QueueOrNone = None
    delay: Delay = 0.0
    depends: Jids = ()
    result: DataOrKept = None
    attempt: Attempt = None

    def check_together(self) -> None:
        for argument in ("delay", "depends"):
            if getattr(self, argument) and self.next is None:
                raise self.refuse(argument, "goes with a next queue only")
        if self.jid in self.depends:
            raise self.refuse("depends", f"names the job itself ({self.jid})")


@dataclass(frozen=True, slots=True)
class CompleteMany(Command[tuple[str, ...]]):
    """Complete several jobs as one atomic change; the reply is their new states. All are completed, or none."""

    name: ClassVar[str] = "complete_many"

    completes: Annotated[tuple[Complete, ...], Kind()]

    def check_together(self) -> None:
        object.__setattr__(self, "completes", tuple(self.completes))
        for index, complete in enumerate(self.completes):
            if not isinstance(complete, Complete):
                raise self.refuse("completes", f"holds something that is no Complete at index {index}: {complete!r:.100}")


@dataclass(frozen=True, slots=True)
class Fail(Command[str]):
    """Fail a running job for good, under a group; the reply is its jid."""

    name: ClassVar[str] = "fail"

    jid: Jid
    worker: Worker
    group: Group
    message: Message
    data: DataOrKept = None
    attempt: Attempt = None


@dataclass(frozen=True, slots=True)
class Retry(Command[int]):
    """Put a running job back to be tried again, at the cost of one retry, unless it is ``free``; the reply is how many remain.

    Below zero the job fails, under the given group, else ``failed-retries-<queue>``. Jobs without a limit answer -1 and
    never fail by it. The job goes on in ``queue``, after ``delay`` seconds; group and message are kept as its last failure.
    """

    name: ClassVar[str] = "retry"

    jid: Jid
    queue: Queue
    worker: Worker
    delay: Delay = 0.0
    group: GroupOrNone = None
    message: MessageOrNone = None
    attempt: Attempt = None
    free: Switch = False
