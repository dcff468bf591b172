"""What the queue tells: frozen records, the same from every engine. Times are seconds since the epoch."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from stanchion.states import State

DependencyPolicy = Literal["wait", "run", "fail", "cancel"]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A frozen record with named fields; JSON by ``msgspec.json``."""


class Failure(Record, frozen=True):
    """Why a job failed last: a short group to list it under, and the whole message."""

    group: str
    message: str
    when: float
    worker: str = ""


class HistoryEntry(Record, frozen=True):
    """Something that happened to a job. ``more`` holds what only some entries have: q, worker, group…"""

    what: str
    when: float
    more: dict[str, Any] = msgspec.field(default_factory=dict)


class Job(Record, frozen=True):
    """A job as it was at one moment.

    ``data`` and ``result`` are JSON texts, byte for byte as given. ``queue`` is empty once complete, ``worker`` and
    ``expires`` are set only while running, ``due`` only while scheduled or while a delay is kept for after its dependencies.
    ``ready_at`` is since when it could be popped (waits are counted from there); ``attempt`` grows at each pop: a fencing
    number for writes outside the queue. ``grace`` is true once its worker was told that the lock has lapsed.
    ``retries`` of -1 means no limit.
    """

    jid: str
    klass: str
    data: str
    queue: str
    state: State
    worker: str = ""
    expires: float = 0.0
    priority: float = 0.0
    retries: int = 5
    remaining: int = 5
    tags: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    dependents: tuple[str, ...] = ()
    throttles: tuple[str, ...] = ()
    tracked: bool = False
    spawned_from_jid: str | None = None
    failure: Failure | None = None
    history: tuple[HistoryEntry, ...] = ()
    attempt: int = 0
    result: str | None = None
    on_dependency_failure: DependencyPolicy = "wait"
    due: float = 0.0
    ready_at: float = 0.0
    popped_at: float = 0.0
    grace: bool = False


class RecurringJob(Record, frozen=True):
    """A template that spawns jobs at its due times. ``interval`` is in seconds; ``count`` is how many it has spawned."""

    jid: str
    klass: str
    data: str
    queue: str
    interval: float
    next_due: float
    priority: float = 0.0
    tags: tuple[str, ...] = ()
    retries: int = 0
    backlog: int = 0
    throttles: tuple[str, ...] = ()
    count: int = 0
    state: Literal["recur"] = "recur"


class QueueCounts(Record, frozen=True):
    """How many jobs of a queue are in each state. ``stalled`` counts lapsed locks, ``running`` the others."""

    name: str
    waiting: int = 0
    running: int = 0
    stalled: int = 0
    scheduled: int = 0
    depends: int = 0
    throttled: int = 0
    recurring: int = 0
    paused: bool = False


class Timing(Record, frozen=True):
    """Wait or run times of a queue on one day, in seconds: mean, sample deviation, and a histogram of 148 buckets."""

    count: int = 0
    mean: float = 0.0
    std: float = 0.0
    histogram: tuple[int, ...] = (0,) * 148


class QueueStats(Record, frozen=True):
    """A queue's day. ``failures`` is how often a job failed, ``failed`` how many of those are failed still."""

    wait: Timing = Timing()
    run: Timing = Timing()
    retries: int = 0
    failures: int = 0
    failed: int = 0


class JobPage(Record, frozen=True):
    """A page of job ids, and how many there are in all."""

    total: int
    jobs: tuple[str, ...] = ()


class TrackedJobs(Record, frozen=True):
    """The tracked jobs that exist, whole, and the tracked ids that do not."""

    jobs: tuple[Job, ...] = ()
    expired: tuple[str, ...] = ()


class WorkerCounts(Record, frozen=True):
    """A worker, when it was last seen, and how many jobs it holds; ``stalled`` of them have lapsed."""

    name: str
    jobs: int = 0
    stalled: int = 0
    seen: float = 0.0


class WorkerJobs(Record, frozen=True):
    """The ids of the jobs that a worker holds, and of those whose lock has lapsed."""

    jobs: tuple[str, ...] = ()
    stalled: tuple[str, ...] = ()


class Throttle(Record, frozen=True):
    """A limit on how many jobs run at once. ``maximum`` 0 is no limit; ``ttl`` is the seconds it still has to live."""

    id: str
    maximum: int = 0
    ttl: float | None = None


class Event(Record, frozen=True):
    """Something published: a channel without its namespace (``log``, ``w:<worker>``, ``completed``…) and a text."""

    channel: str
    message: str
