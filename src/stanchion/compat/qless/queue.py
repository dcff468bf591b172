"""Queues: putting into them, taking from them, looking at them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from functools import cached_property
from typing import Any, overload

import msgspec

from stanchion import commands as c
from stanchion.commands.queues import Listing
from stanchion.compat.qless import registry
from stanchion.compat.qless.calls import Caller, as_json, listed
from stanchion.compat.qless.job import Job
from stanchion.records import QueueCounts

RETRIES = 5


class Jobs:
    """``queue.jobs``: the jids of a queue's jobs, by state, a page at a time."""

    def __init__(self, name: str, client: Caller) -> None:
        self.name = name
        self.client = client

    def waiting(self, offset: int = 0, count: int = 25) -> list[str]:
        """Those that wait, in the order in which they will be popped."""
        return self._page("waiting", offset, count)

    def running(self, offset: int = 0, count: int = 25) -> list[str]:
        """Those that run."""
        return self._page("running", offset, count)

    def stalled(self, offset: int = 0, count: int = 25) -> list[str]:
        """Those of which the lock has lapsed."""
        return self._page("stalled", offset, count)

    def scheduled(self, offset: int = 0, count: int = 25) -> list[str]:
        """Those that wait for their time."""
        return self._page("scheduled", offset, count)

    def depends(self, offset: int = 0, count: int = 25) -> list[str]:
        """Those that wait for other jobs."""
        return self._page("depends", offset, count)

    def recurring(self, offset: int = 0, count: int = 25) -> list[str]:
        """The templates that spawn into the queue."""
        return self._page("recurring", offset, count)

    def _page(self, state: Listing, offset: int, count: int) -> list[str]:
        return listed(self.client.run(c.ListJobs, state, self.name, offset, count))


class Queue:
    """``client.queues["mail"]``. A queue exists from the first put into it."""

    def __init__(self, name: str, client: Caller, worker_name: str) -> None:
        self.name = name
        self.client = client
        self.worker_name = worker_name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @cached_property
    def jobs(self) -> Jobs:
        """The queue's jobs, by state."""
        return Jobs(self.name, self.client)

    @property
    def counts(self) -> dict[str, Any]:
        """How many jobs are in each state."""
        return counts_of(self.client.run(c.Counts, self.name))

    @property
    def heartbeat(self) -> int:
        """Seconds that a lock of this queue lasts; setting it changes it for everyone."""
        config = self.client.config
        return int(config.get(f"{self.name}-heartbeat") or config["heartbeat"])

    @heartbeat.setter
    def heartbeat(self, seconds: float) -> None:
        self.client.config[f"{self.name}-heartbeat"] = seconds

    def __len__(self) -> int:
        return self.client.run(c.Length, self.name)

    def class_string(self, klass: Any) -> str:
        """The klass that a class is put under: a text is itself."""
        return registry.class_string(klass)

    def pause(self) -> None:
        """Give out nothing any more; puts are still taken."""
        self.client.run(c.Pause, (self.name,))

    def unpause(self) -> None:
        """Give out jobs again."""
        self.client.run(c.Unpause, (self.name,))

    def put(
        self,
        klass: Any,
        data: Any,
        priority: float | None = None,
        tags: Sequence[str] | None = None,
        delay: float | None = None,
        retries: int | None = None,
        jid: str | None = None,
        depends: Sequence[str] | None = None,
    ) -> str:
        """Put a job, or move and renew an existing one; its jid.

        ``klass`` is a class, which this process can then run, or any client's name for one. ``data`` is anything that has JSON.
        What is left out is none, also where the job had it before; 5 ``retries`` are also what 0 stands for.
        """
        return self.client.run(
            c.Put,
            self.name,
            jid or uuid.uuid4().hex,
            registry.learn(klass),
            as_json(data, "put"),
            delay=delay or 0,
            priority=priority or 0,
            tags=tuple(tags or ()),
            retries=retries or RETRIES,
            depends=tuple(depends or ()),
        )

    def recur(
        self,
        klass: Any,
        data: Any,
        interval: float,
        offset: float = 0,
        priority: float | None = None,
        tags: Sequence[str] | None = None,
        retries: int | None = None,
        jid: str | None = None,
    ) -> str:
        """Let the queue spawn such a job every ``interval`` seconds, first after ``offset`` seconds; the template's jid."""
        return self.client.run(
            c.Recur,
            self.name,
            jid or uuid.uuid4().hex,
            registry.learn(klass),
            as_json(data, "recur"),
            interval,
            offset,
            priority or 0,
            tuple(tags or ()),
            retries or RETRIES,
        )

    @overload
    def pop(self, count: None = None) -> Job | None: ...
    @overload
    def pop(self, count: int) -> list[Job]: ...
    def pop(self, count: int | None = None) -> Job | list[Job] | None:
        """Take the next job, or None; with a ``count``, a list of up to so many."""
        records = self.client.run(c.Pop, self.name, self.worker_name, count or 1)
        return _one_or_all([Job(self.client, record) for record in records], count)

    @overload
    def peek(self, count: None = None) -> Job | None: ...
    @overload
    def peek(self, count: int) -> list[Job]: ...
    def peek(self, count: int | None = None) -> Job | list[Job] | None:
        """See what ``pop`` would give."""
        records = self.client.run(c.Peek, self.name, count or 1)
        return _one_or_all([Job(self.client, record) for record in records], count)

    def stats(self, date: float | None = None) -> dict[str, Any]:
        """The statistics of one UTC day, any moment of it, or today: wait, run, retries, failures, failed."""
        stats: dict[str, Any] = msgspec.to_builtins(self.client.run(c.Stats, self.name, date or None))
        return stats


def counts_of(counts: QueueCounts) -> dict[str, Any]:
    """A queue's counts as a dictionary: ``throttled`` is there if there is one."""
    shown: dict[str, Any] = msgspec.to_builtins(counts)
    return shown if counts.throttled else {name: count for name, count in shown.items() if name != "throttled"}


def _one_or_all(jobs: list[Job], count: int | None) -> Job | list[Job] | None:
    return next(iter(jobs), None) if count is None else jobs
