"""What is going on: failures, tags, workers, events."""

from __future__ import annotations

from stanchion import commands as c
from stanchion.client.aio.base import AsyncPart
from stanchion.engine.contract import AsyncSubscription
from stanchion.records import JobPage, WorkerCounts, WorkerJobs


class AsyncFailures(AsyncPart):
    """``client.failures``: failed jobs, by group."""

    async def groups(self, *, now: float | None = None) -> dict[str, int]:
        """How many jobs are failed in each group."""
        return await self._run(c.FailureGroups(), now)

    async def page(self, group: str, *, start: int = 0, limit: int = 25, now: float | None = None) -> JobPage:
        """A page of a group's failed jobs, newest first."""
        return await self._run(c.Failed(group, start, limit), now)

    async def unfail(self, group: str, queue: str, count: int = 25, *, now: float | None = None) -> int:
        """Put failed jobs of a group back to wait in a queue, the longest-failed first; how many."""
        return await self._run(c.Unfail(queue, group, count), now)


class AsyncTags(AsyncPart):
    """``client.tags``: jobs by their tags."""

    async def top(self, *, offset: int = 0, count: int = 25, now: float | None = None) -> tuple[str, ...]:
        """The tags that two or more jobs bear, most frequent first."""
        return await self._run(c.TopTags(offset, count), now)

    async def page(self, tag: str, *, offset: int = 0, count: int = 25, now: float | None = None) -> JobPage:
        """A page of the jobs that bear a tag."""
        return await self._run(c.Tagged(tag, offset, count), now)


class AsyncWorkers(AsyncPart):
    """``client.workers``: who works, and on what."""

    async def counts(self, *, now: float | None = None) -> tuple[WorkerCounts, ...]:
        """Every worker, most recently seen first."""
        return await self._run(c.AllWorkers(), now)

    async def jobs(self, worker: str, *, now: float | None = None) -> WorkerJobs:
        """The jobs that a worker holds, and those of which the lock has lapsed."""
        return await self._run(c.JobsOfWorker(worker), now)

    async def deregister(self, *workers: str, now: float | None = None) -> int:
        """Forget workers; how many were known."""
        return await self._run(c.Deregister(workers), now)


class AsyncEvents(AsyncPart):
    """``client.events``: what happens, as it happens, in any process."""

    async def subscribe(self, *channels: str) -> AsyncSubscription:
        """Listen to channels: ``log`` for all that happens, ``w:<worker>``, or a tracked job's ``completed``, ``failed``…;
        ``*`` for everything."""
        return await self._engine.subscribe(channels or ("*",))
