"""``client.jobs``, ``client.queues`` and ``client.workers``: one by its name, or what is known of all."""

from __future__ import annotations

from typing import Any

from stanchion import commands as c
from stanchion.compat.qless.calls import Caller, listed
from stanchion.compat.qless.job import Job, RecurringJob
from stanchion.compat.qless.queue import Queue, counts_of


class Jobs:
    """Jobs by their jids, and by what holds of them."""

    def __init__(self, client: Caller) -> None:
        self.client = client

    def __getitem__(self, jid: str) -> Job | RecurringJob | None:
        job = self.client.run(c.Get, jid)
        if job is not None:
            return Job(self.client, job)
        template = self.client.run(c.GetRecurring, jid)
        return None if template is None else RecurringJob(self.client, template)

    def get(self, *jids: str) -> list[Job]:
        """Those of the jobs that exist."""
        return [Job(self.client, job) for job in self.client.run(c.MultiGet, jids)] if jids else []

    def complete(self, offset: int = 0, count: int = 25) -> list[str]:
        """A page of the jids of complete jobs, newest first."""
        return listed(self.client.run(c.ListJobs, "complete", None, offset, count))

    def tracked(self) -> dict[str, Any]:
        """``jobs``: the tracked jobs that exist; ``expired``: the tracked jids that do not."""
        tracked = self.client.run(c.Tracked)
        return {"jobs": [Job(self.client, job) for job in tracked.jobs], "expired": list(tracked.expired)}

    def tagged(self, tag: str, offset: int = 0, count: int = 25) -> dict[str, Any]:
        """``total``: how many jobs bear a tag; ``jobs``: a page of their jids."""
        page = self.client.run(c.Tagged, tag, offset, count)
        return {"total": page.total, "jobs": list(page.jobs)}

    def failed(self, group: str | None = None, start: int = 0, limit: int = 25) -> dict[str, Any]:
        """How many jobs are failed in each group; of one group, ``total``, and ``jobs``: a page of them, newest first."""
        if not group:
            return self.client.run(c.FailureGroups)
        page = self.client.run(c.Failed, group, start, limit)
        return {"total": page.total, "jobs": self.get(*page.jobs)}


class Queues:
    """Queues by their names."""

    def __init__(self, client: Caller) -> None:
        self.client = client

    def __getitem__(self, name: str) -> Queue:
        return Queue(name, self.client, self.client.worker_name)

    @property
    def counts(self) -> list[dict[str, Any]]:
        """The counts of every known queue, in the order first seen."""
        return [counts_of(counts) for counts in self.client.run(c.AllCounts)]


class Workers:
    """Workers by their names."""

    def __init__(self, client: Caller) -> None:
        self.client = client

    def __getitem__(self, name: str) -> dict[str, list[str]]:
        """``jobs``: the jids of those it holds; ``stalled``: of those whose lock has lapsed."""
        held = self.client.run(c.JobsOfWorker, name)
        return {"jobs": list(held.jobs), "stalled": list(held.stalled)}

    @property
    def counts(self) -> list[dict[str, Any]]:
        """Every worker and how many jobs it holds, most recently seen first."""
        workers = self.client.run(c.AllWorkers)
        return [{"name": one.name, "jobs": one.jobs, "stalled": one.stalled} for one in workers]
