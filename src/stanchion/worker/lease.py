"""The lock of a running job as its worker sees it: when to renew it, when it is over. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stanchion.records import Job

PARTS = 3
"""A lock is renewed each third of its length, so that two renewals may be lost before it lapses."""

SHORTEST = 0.05
"""Seconds between renewals at the least, however short the locks."""


@dataclass(eq=False)
class Lease:
    """One run of a job, and its lock, measured by this process's monotonic clock: renewed then, it lasts so many seconds."""

    job: Job
    renewed: float
    seconds: float
    deadline: float | None = None
    """When the job's own time is over, if it has a timeout."""
    late: bool = False
    """Its own time is over; the lock is still this worker's."""
    lost: str | None = None
    """Why the lock is no longer this worker's."""
    settled: bool = False
    """The job's code settled it, or is about to."""

    @property
    def due(self) -> float:
        """When it is to be renewed."""
        return self.renewed + max(SHORTEST, self.seconds / PARTS)

    @property
    def ends(self) -> float:
        """When it lapses, unless it is renewed."""
        return self.renewed + self.seconds

    def is_ours(self, now: float) -> bool:
        """Is the lock certainly still this worker's?"""
        return self.lost is None and not self.settled and now < self.ends


def new_lease(job: Job, asked: float) -> Lease:
    """The lease of a popped job; ``asked`` is from before the pop, so that it is never thought to last longer than it does."""
    return Lease(job, asked, job.expires - job.popped_at)


def due(leases: Iterable[Lease], now: float) -> list[Lease]:
    """Those that are to be renewed now."""
    return [lease for lease in leases if lease.due <= now and not lease.settled]


def overdue(leases: Iterable[Lease], now: float) -> list[Lease]:
    """Those whose jobs have used up their own time, and do not know it yet."""
    return [lease for lease in leases if lease.deadline is not None and lease.deadline <= now and not lease.late]


def next_look(leases: Iterable[Lease], now: float, longest: float) -> float:
    """Seconds until something is due again."""
    times = [time for lease in leases if not lease.settled for time in _times(lease)]
    return max(0.0, min(min(times, default=now + longest) - now, longest))


def _times(lease: Lease) -> list[float]:
    return [lease.due] if lease.deadline is None or lease.late else [lease.due, lease.deadline]
