"""Keeping the locks of running jobs: which are due to be renewed, and what an answer means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stanchion.errors import JobNotFound, JobNotRunning, LockLost
from stanchion.records import Job
from stanchion.worker.active import ActiveJob

PARTS = 3
"""A lock is renewed each third of its length, so that two renewals may be lost before it lapses."""

SHORTEST = 0.05
"""Seconds between renewals at the least, however short the locks."""

LOST = (LockLost, JobNotRunning, JobNotFound)
"""Answers to a renewal that say that the job is no longer this worker's."""


@dataclass
class Lease:
    """A running job's lock, measured by this process's monotonic clock: it was renewed then, and lasts so long."""

    job: ActiveJob
    renewed: float
    seconds: float
    deadline: float | None = None
    """When the job's own time is over, if it has a timeout."""

    @property
    def due(self) -> float:
        """When it is to be renewed."""
        return self.renewed + max(SHORTEST, self.seconds / PARTS)

    @property
    def ends(self) -> float:
        """When it lapses, unless it is renewed."""
        return self.renewed + self.seconds


def new_lease(job: ActiveJob, record: Job, now: float, timeout: float | None) -> Lease:
    """The lease of a job that was popped just now."""
    return Lease(job, now, record.expires - record.popped_at, None if timeout is None else now + timeout)


def due(leases: Iterable[Lease], now: float) -> list[Lease]:
    """Those that are to be renewed now."""
    return [lease for lease in leases if lease.due <= now]


def overdue(leases: Iterable[Lease], now: float) -> list[Lease]:
    """Those whose jobs have used up their own time."""
    return [lease for lease in leases if lease.deadline is not None and lease.deadline <= now]


def next_look(leases: Iterable[Lease], now: float, longest: float) -> float:
    """Seconds until something is due again."""
    times = [time for lease in leases for time in (lease.due, lease.deadline) if time is not None]
    return max(0.0, min(min(times, default=now + longest) - now, longest))
