# Generated from ../aio/insight.py by tools/generate_sync.py: change that file, not this one.
"""What is going on: failures, tags, workers, events."""

from __future__ import annotations

from stanchion import commands as c
from stanchion.client.sync.base import Part
from stanchion.engine.contract import Subscription
from stanchion.records import JobPage, WorkerCounts, WorkerJobs


class Failures(Part):
    """``client.failures``: failed jobs, by group."""

    def groups(self, *, now: float | None = None) -> dict[str, int]:
        """How many jobs are failed in each group."""
        return self._run(c.FailureGroups(), now)

    def page(self, group: str, *, start: int = 0, limit: int = 25, now: float | None = None) -> JobPage:
        """A page of a group's failed jobs, newest first."""
        return self._run(c.Failed(group, start, limit), now)

    def unfail(self, group: str, queue: str, count: int = 25, *, now: float | None = None) -> int:
        """Put failed jobs of a group back to wait in a queue, the longest-failed first; how many."""
        return self._run(c.Unfail(queue, group, count), now)


class Tags(Part):
    """``client.tags``: jobs by their tags."""

    def top(self, *, offset: int = 0, count: int = 25, now: float | None = None) -> tuple[str, ...]:
        """The tags that two or more jobs bear, most frequent first."""
        return self._run(c.TopTags(offset, count), now)

    def page(self, tag: str, *, offset: int = 0, count: int = 25, now: float | None = None) -> JobPage:
        """A page of the jobs that bear a tag."""
        return self._run(c.Tagged(tag, offset, count), now)


class Workers(Part):
    """``client.workers``: who works, and on what."""

    def counts(self, *, now: float | None = None) -> tuple[WorkerCounts, ...]:
        """Every worker, most recently seen first."""
        return self._run(c.AllWorkers(), now)

    def jobs(self, worker: str, *, now: float | None = None) -> WorkerJobs:
        """The jobs that a worker holds, and those of which the lock has lapsed."""
        return self._run(c.JobsOfWorker(worker), now)

    def deregister(self, *workers: str, now: float | None = None) -> int:
        """Forget workers; how many were known."""
        return self._run(c.Deregister(workers), now)


class Events(Part):
    """``client.events``: what happens, as it happens, in any process."""

    def subscribe(self, *channels: str) -> Subscription:
        """Listen to channels: ``log`` for all that happens, ``w:<worker>``, or a tracked job's ``completed``, ``failed``…;
        ``*`` for everything."""
        return self._engine.subscribe(channels or ("*",))
