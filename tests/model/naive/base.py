"""What the model remembers, and the small words that the rest is said in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stanchion.errors import JobNotFound, JobNotRunning, LockLost
from stanchion.records import Failure, HistoryEntry, RecurringJob
from stanchion.rules.config import OPTIONS

DAY = 86400


@dataclass
class Item:
    """A job. ``held`` are the throttles in which it has a place, and since when."""

    jid: str
    klass: str = ""
    data: str = ""
    queue: str = ""
    state: str = "new"
    seq: int = 0
    ready_at: float = 0.0
    due: float = 0.0
    worker: str = ""
    expires: float = 0.0
    priority: float = 0.0
    retries: int = 5
    remaining: int = 5
    tags: tuple[str, ...] = ()
    throttles: tuple[str, ...] = ()
    depends: frozenset[str] = frozenset()
    spawned: str | None = None
    failure: Failure | None = None
    history: list[HistoryEntry] = field(default_factory=list)
    attempt: int = 0
    result: str | None = None
    policy: str = "wait"
    popped_at: float = 0.0
    grace: bool = False
    failed_at: float = 0.0
    completed_at: float = 0.0
    held: dict[str, float] = field(default_factory=dict)

    @property
    def line(self) -> tuple[float, float, int]:
        """Its place in the line: the smallest is popped first."""
        return -self.priority, self.ready_at, self.seq


@dataclass
class Template:
    """A recurring job, and the offset that it was given with."""

    record: RecurringJob
    offset: float


@dataclass
class Base:
    """The whole state, in dictionaries. A command changes it in any way it likes: ``Naive.run`` undoes what fails."""

    jobs: dict[str, Item] = field(default_factory=dict)
    templates: dict[str, Template] = field(default_factory=dict)
    queues: dict[str, int] = field(default_factory=dict)  # the known ones, numbered as they were first seen
    paused: set[str] = field(default_factory=set)
    workers: dict[str, float] = field(default_factory=dict)  # when each was last seen
    tagged: dict[tuple[str, str], int] = field(default_factory=dict)  # (tag, jid), numbered as they were tagged
    tracked: dict[str, tuple[int, float]] = field(default_factory=dict)  # a number, and since when
    limits: dict[str, tuple[int, float | None]] = field(default_factory=dict)  # of throttles: maximum, and until when
    waits: dict[tuple[str, int], list[float]] = field(default_factory=dict)  # all durations of a queue and day
    runs: dict[tuple[str, int], list[float]] = field(default_factory=dict)
    counters: dict[tuple[str, int], list[int]] = field(default_factory=dict)  # retries, failures, failed
    config: dict[str, Any] = field(default_factory=dict)
    events: list[tuple[str, Any]] = field(default_factory=list)  # what the last command published
    numbers: int = 0
    now: float = 0.0

    def number(self) -> int:
        """One more than any before."""
        self.numbers += 1
        return self.numbers

    def option(self, name: str, queue: str | None = None) -> float:
        """An option's value: a queue's own, else the general one (a limit on concurrency has none), else the default."""
        if queue is not None and f"{queue}-{name}" in self.config:
            return float(self.config[f"{queue}-{name}"])
        if name in OPTIONS:
            return float(self.config.get(name, OPTIONS[name].default))
        return 0.0

    def need(self, jid: str) -> Item:
        if jid not in self.jobs:
            raise JobNotFound(jid=jid)
        return self.jobs[jid]

    def running(self, jid: str) -> Item:
        job = self.need(jid)
        if job.state != "running":
            raise JobNotRunning(jid=jid, state=job.state)
        return job

    def held_by(self, jid: str, worker: str, attempt: int | None) -> Item:
        job = self.running(jid)
        if job.worker != worker:
            raise LockLost(jid=jid, worker=worker, holder=job.worker)
        if attempt not in (None, job.attempt):
            raise LockLost(jid=jid, worker=worker, holder=f"attempt {job.attempt}")
        return job

    def in_state(self, queue: str, *states: str) -> list[Item]:
        """The jobs of a queue in these states, in the order in which they were put."""
        return sorted((j for j in self.jobs.values() if j.queue == queue and j.state in states), key=lambda j: j.seq)

    def line(self, queue: str) -> list[Item]:
        """The waiting jobs of a queue, best first."""
        return sorted(self.in_state(queue, "waiting"), key=lambda job: job.line)

    def note(self, job: Item, what: str, when: float | None = None, **more: Any) -> None:
        """Add to a history; where it gets too long, the first entry stays and then the newest."""
        job.history.append(HistoryEntry(what, self.now if when is None else when, more))
        limit = int(self.option("max-job-history"))
        while 0 < limit < len(job.history) and len(job.history) > 1:
            del job.history[1]

    def know(self, queue: str) -> None:
        self.queues.setdefault(queue, self.number())

    def day(self, when: float) -> int:
        return int(when // DAY) * DAY

    def counter(self, queue: str, when: float) -> list[int]:
        return self.counters.setdefault((queue, self.day(when)), [0, 0, 0])

    def dependents(self, jid: str) -> list[Item]:
        """The jobs that wait for a job, as they were put."""
        return sorted((job for job in self.jobs.values() if jid in job.depends), key=lambda job: job.seq)

    # Events

    def log(self, event: str, **more: Any) -> None:
        self.events.append(("log", {"event": event, **more}))

    def tell_worker(self, worker: str, event: str, **more: Any) -> None:
        if worker:
            self.events.append((f"w:{worker}", {"event": event, "worker": worker, **more}))

    def tell_watchers(self, channel: str, jid: str) -> None:
        if jid in self.tracked:
            self.events.append((channel, jid))

    def lock_lost(self, job: Item, worker: str) -> None:
        self.tell_worker(worker, "lock_lost", jid=job.jid)
        self.log("lock_lost", jid=job.jid, worker=worker)
