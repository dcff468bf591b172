"""Queues: putting into them, taking from them, looking at them."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Sequence
from typing import Any, Unpack

from stanchion import commands as c
from stanchion.client.aio.base import AsyncPart
from stanchion.client.aio.jobs import AsyncJobHandle
from stanchion.client.data import encode, names
from stanchion.client.options import PutOptions
from stanchion.commands.queues import Listing
from stanchion.engine.contract import AsyncEngine
from stanchion.records import QueueCounts, QueueStats


class AsyncQueue(AsyncPart):
    """``client.queues["mail"]``. A queue exists from the first put into it."""

    def __init__(self, engine: AsyncEngine, name: str) -> None:
        super().__init__(engine)
        self.name = name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def new(self, klass: str, data: Any = None, **options: Unpack[PutOptions]) -> c.Put:
        """The command that puts such a job, for ``put_many``. ``data`` is anything that has JSON; see :class:`PutOptions`."""
        jid = options.pop("jid", None)
        named: Any = options  # lists of names become tuples in the command
        return c.Put(self.name, uuid.uuid4().hex if jid is None else jid, klass, _data(data, "put"), **named)

    async def put(
        self,
        klass: str,
        data: Any = None,
        *,
        now: float | None = None,
        token: str | None = None,
        **options: Unpack[PutOptions],
    ) -> str:
        """Put a job, or move and renew an existing one; its jid. See :class:`PutOptions`."""
        return await self._run(self.new(klass, data, **options), now, token=token)

    async def pop(self, worker: str, *, now: float | None = None) -> AsyncJobHandle | None:
        """Take the next job, under a lock of this worker; None if there is none."""
        return next(iter(await self.pop_many(worker, 1, now=now)), None)

    async def pop_many(self, worker: str, count: int, *, now: float | None = None) -> list[AsyncJobHandle]:
        """Take up to ``count`` jobs."""
        jobs = await self._run(c.Pop(self.name, worker, count), now)
        return [AsyncJobHandle(self._engine, job.jid, job) for job in jobs]

    async def peek(self, count: int = 1, *, now: float | None = None) -> list[AsyncJobHandle]:
        """See what ``pop_many`` would give."""
        jobs = await self._run(c.Peek(self.name, count), now)
        return [AsyncJobHandle(self._engine, job.jid, job) for job in jobs]

    async def recur(
        self,
        klass: str,
        data: Any = None,
        *,
        interval: float,
        offset: float = 0.0,
        jid: str | None = None,
        priority: float = 0.0,
        tags: Sequence[str] = (),
        retries: int = 0,
        backlog: int = 0,
        throttles: Sequence[str] = (),
        restart: bool = False,
        now: float | None = None,
    ) -> str:
        """Let the queue spawn such a job every ``interval`` seconds, first after ``offset`` seconds; the template's jid."""
        command = c.Recur(
            self.name,
            uuid.uuid4().hex if jid is None else jid,
            klass,
            _data(data, "recur"),
            interval,
            offset,
            priority,
            names(tags),
            retries,
            backlog,
            names(throttles),
            restart,
        )
        return await self._run(command, now)

    async def counts(self, *, now: float | None = None) -> QueueCounts:
        """How many jobs are in each state."""
        return await self._run(c.Counts(self.name), now)

    async def length(self, *, now: float | None = None) -> int:
        """How many jobs wait, run, or are scheduled."""
        return await self._run(c.Length(self.name), now)

    async def stats(self, date: float | None = None, *, now: float | None = None) -> QueueStats:
        """The statistics of one UTC day: any moment of it, or today."""
        return await self._run(c.Stats(self.name, date), now)

    async def jobs(self, state: Listing, *, offset: int = 0, count: int = 25, now: float | None = None) -> tuple[str, ...]:
        """A page of the jids in a state."""
        return await self._run(c.ListJobs(state, self.name, offset, count), now)

    async def pause(self, *, now: float | None = None) -> None:
        """Give out nothing any more; puts are still taken."""
        await self._run(c.Pause((self.name,)), now)

    async def unpause(self, *, now: float | None = None) -> None:
        """Give out jobs again."""
        await self._run(c.Unpause((self.name,)), now)

    async def unfail(self, group: str, count: int = 25, *, now: float | None = None) -> int:
        """Put failed jobs of a group back to wait in this queue, the longest-failed first; how many."""
        return await self._run(c.Unfail(self.name, group, count), now)

    async def forget(self, *, now: float | None = None) -> None:
        """Drop the queue from the list of known ones, until something is put into it."""
        await self._run(c.ForgetQueues((self.name,)), now)


class AsyncQueues(AsyncPart):
    """``client.queues``: one by its name, or the counts of all."""

    def __getitem__(self, name: str) -> AsyncQueue:
        return AsyncQueue(self._engine, name)

    async def counts(self, *, now: float | None = None) -> tuple[QueueCounts, ...]:
        """The counts of every known queue, in the order first seen."""
        return await self._run(c.AllCounts(), now)

    async def __aiter__(self) -> AsyncIterator[AsyncQueue]:
        for counts in await self.counts():
            yield self[counts.name]


def _data(value: Any, command: str) -> str:
    return "{}" if value is None else encode(value, command=command, argument="data")
