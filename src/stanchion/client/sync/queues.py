# Generated from ../aio/queues.py by tools/generate_sync.py: change that file, not this one.
"""Queues: putting into them, taking from them, looking at them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import Any, Unpack

from stanchion import commands as c
from stanchion.client.sync.base import Part
from stanchion.client.sync.jobs import JobHandle
from stanchion.client.data import encode, names
from stanchion.client.options import PutOptions
from stanchion.commands.queues import Listing
from stanchion.engine.contract import Engine
from stanchion.records import QueueCounts, QueueStats


class Queue(Part):
    """``client.queues["mail"]``. A queue exists from the first put into it."""

    def __init__(self, engine: Engine, name: str) -> None:
        super().__init__(engine)
        self.name = name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def new(self, klass: str, data: Any = None, **options: Unpack[PutOptions]) -> c.Put:
        """The command that puts such a job, for ``put_many``. ``data`` is anything that has JSON; see :class:`PutOptions`."""
        jid = options.pop("jid", None)
        named: Any = options  # lists of names become tuples in the command
        return c.Put(self.name, uuid.uuid4().hex if jid is None else jid, klass, _data(data, "put"), **named)

    def put(
        self,
        klass: str,
        data: Any = None,
        *,
        now: float | None = None,
        token: str | None = None,
        **options: Unpack[PutOptions],
    ) -> str:
        """Put a job, or move and renew an existing one; its jid. See :class:`PutOptions`."""
        return self._run(self.new(klass, data, **options), now, token=token)

    def pop(self, worker: str, *, now: float | None = None) -> JobHandle | None:
        """Take the next job, under a lock of this worker; None if there is none."""
        return next(iter(self.pop_many(worker, 1, now=now)), None)

    def pop_many(self, worker: str, count: int, *, now: float | None = None) -> list[JobHandle]:
        """Take up to ``count`` jobs."""
        jobs = self._run(c.Pop(self.name, worker, count), now)
        return [JobHandle(self._engine, job.jid, job) for job in jobs]

    def peek(self, count: int = 1, *, now: float | None = None) -> list[JobHandle]:
        """See what ``pop_many`` would give."""
        jobs = self._run(c.Peek(self.name, count), now)
        return [JobHandle(self._engine, job.jid, job) for job in jobs]

    def recur(
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
        return self._run(command, now)

    def counts(self, *, now: float | None = None) -> QueueCounts:
        """How many jobs are in each state."""
        return self._run(c.Counts(self.name), now)

    def length(self, *, now: float | None = None) -> int:
        """How many jobs wait, run, or are scheduled."""
        return self._run(c.Length(self.name), now)

    def stats(self, date: float | None = None, *, now: float | None = None) -> QueueStats:
        """The statistics of one UTC day: any moment of it, or today."""
        return self._run(c.Stats(self.name, date), now)

    def jobs(self, state: Listing, *, offset: int = 0, count: int = 25, now: float | None = None) -> tuple[str, ...]:
        """A page of the jids in a state."""
        return self._run(c.ListJobs(state, self.name, offset, count), now)

    def pause(self, *, now: float | None = None) -> None:
        """Give out nothing any more; puts are still taken."""
        self._run(c.Pause((self.name,)), now)

    def unpause(self, *, now: float | None = None) -> None:
        """Give out jobs again."""
        self._run(c.Unpause((self.name,)), now)

    def unfail(self, group: str, count: int = 25, *, now: float | None = None) -> int:
        """Put failed jobs of a group back to wait in this queue, the longest-failed first; how many."""
        return self._run(c.Unfail(self.name, group, count), now)

    def forget(self, *, now: float | None = None) -> None:
        """Drop the queue from the list of known ones, until something is put into it."""
        self._run(c.ForgetQueues((self.name,)), now)


class Queues(Part):
    """``client.queues``: one by its name, or the counts of all."""

    def __getitem__(self, name: str) -> Queue:
        return Queue(self._engine, name)

    def counts(self, *, now: float | None = None) -> tuple[QueueCounts, ...]:
        """The counts of every known queue, in the order first seen."""
        return self._run(c.AllCounts(), now)

    def __iter__(self) -> Iterator[Queue]:
        for counts in self.counts():
            yield self[counts.name]


def _data(value: Any, command: str) -> str:
    return "{}" if value is None else encode(value, command=command, argument="data")
