"""Queues: counts, length, lists of jobs, pause, statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from stanchion.commands.base import Command
from stanchion.commands.kinds import Count, OneOf, Queue, QueueOrNone, Queues, TimeOrNow
from stanchion.records import QueueCounts, QueueStats

Listing = Literal["waiting", "running", "stalled", "scheduled", "depends", "blocked", "throttled", "recurring", "complete"]
"""What can be listed: the states of jobs in a queue, ``blocked`` (depends on one that failed), ``recurring``, ``complete``."""

LISTINGS: tuple[Listing, ...] = (
    "waiting", "running", "stalled", "scheduled", "depends", "blocked", "throttled", "recurring", "complete",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AllCounts(Command[tuple[QueueCounts, ...]]):
    """How many jobs are in each state, for every known queue in the order first seen."""

    name: ClassVar[str] = "queues"
    reads: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Counts(Command[QueueCounts]):
    """How many jobs of a queue are in each state; zeros for an unknown queue."""

    name: ClassVar[str] = "counts"
    reads: ClassVar[bool] = True

    queue: Queue


@dataclass(frozen=True, slots=True)
class Length(Command[int]):
    """How many jobs a queue has running (lapsed locks and stalled ones among them), waiting and scheduled."""

    name: ClassVar[str] = "length"
    reads: ClassVar[bool] = True

    queue: Queue


@dataclass(frozen=True, slots=True)
class ListJobs(Command[tuple[str, ...]]):
    """A page of the jids of one listing. All but ``complete`` want a queue; ``complete`` takes none, newest first.

    waiting: in the order of pop; running, stalled: next to lapse first; scheduled, recurring: next due first; depends,
    blocked, throttled: by the time they got there.
    """

    name: ClassVar[str] = "jobs"
    reads: ClassVar[bool] = True

    state: Annotated[Listing, OneOf(words=LISTINGS)]
    queue: QueueOrNone = None
    offset: Count = 0
    count: Count = 25

    def check_together(self) -> None:
        if (self.state == "complete") != (self.queue is None):
            raise self.refuse("queue", "must be given, but for complete jobs, which have none")


@dataclass(frozen=True, slots=True)
class Pause(Command[None]):
    """Let queues take puts but give nothing out."""

    name: ClassVar[str] = "pause"

    queues: Queues


@dataclass(frozen=True, slots=True)
class Unpause(Command[None]):
    """Let queues give out jobs again."""

    name: ClassVar[str] = "unpause"

    queues: Queues


@dataclass(frozen=True, slots=True)
class ForgetQueues(Command[None]):
    """Drop queues from the list of known ones: only that. The next put or recur brings one back."""

    name: ClassVar[str] = "queue.forget"

    queues: Queues


@dataclass(frozen=True, slots=True)
class Stats(Command[QueueStats]):
    """A queue's statistics of one UTC day: any moment of that day, or today."""

    name: ClassVar[str] = "stats"
    reads: ClassVar[bool] = True

    queue: Queue
    date: TimeOrNow = None
