# Generated from ../aio/jobs.py by tools/generate_sync.py: change that file, not this one.
"""One job: looking at it, changing it, and settling it when it was popped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stanchion import commands as c
from stanchion.client.sync.base import Part
from stanchion.client.data import decode, encode, names
from stanchion.engine.contract import Engine
from stanchion.errors import JobNotRunning
from stanchion.records import Failure, HistoryEntry, Job, TrackedJobs


class JobHandle(Part):
    """A job by its jid. One that was popped also has ``record``, the job as it was then, and can be settled."""

    def __init__(self, engine: Engine, jid: str, record: Job | None = None) -> None:
        super().__init__(engine)
        self.jid = jid
        self._record = record

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.jid}>"

    @property
    def record(self) -> Job:
        """The job as it was when it was popped or peeked at. Raises JobNotRunning for a handle that is only a jid."""
        if self._record is None:
            raise JobNotRunning(jid=self.jid, state="not popped through this handle")
        return self._record

    @property
    def data(self) -> Any:
        """The job's data as it was popped, decoded."""
        return decode(self.record.data)

    @property
    def klass(self) -> str:
        """The name of the code that performs it."""
        return self.record.klass

    @property
    def queue(self) -> str:
        """The queue that it was popped from."""
        return self.record.queue

    @property
    def worker(self) -> str:
        """Who popped it."""
        return self.record.worker

    @property
    def attempt(self) -> int:
        """Grows each time that the job is popped: pass it along with writes outside, so that a late writer can be refused."""
        return self.record.attempt

    @property
    def expires(self) -> float:
        """When the lock lapses unless it is renewed, seconds since the epoch, as of the pop."""
        return self.record.expires

    @property
    def retries(self) -> int:
        """How many retries it was given; -1: no limit."""
        return self.record.retries

    @property
    def remaining(self) -> int:
        """How many retries were left when it was popped."""
        return self.record.remaining

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags as of the pop."""
        return self.record.tags

    @property
    def failure(self) -> Failure | None:
        """Why it failed last, if it ever did."""
        return self.record.failure

    @property
    def history(self) -> tuple[HistoryEntry, ...]:
        """What had happened to it up to the pop, oldest first."""
        return self.record.history

    def get(self, *, now: float | None = None) -> Job | None:
        """The job as it is; None if there is none."""
        return self._run(c.Get(self.jid), now)

    def complete(
        self,
        *,
        data: Any = None,
        result: Any = None,
        next: str | None = None,
        delay: float = 0.0,
        depends: Sequence[str] = (),
        now: float | None = None,
        token: str | None = None,
    ) -> str:
        """Finish the popped job, or send it on to the ``next`` queue; its new state."""
        command = c.Complete(
            self.jid,
            self.record.worker,
            self.record.queue,
            _or_none(data, "complete", "data"),
            next,
            delay,
            names(depends),
            _or_none(result, "complete", "result"),
            self.record.attempt,
        )
        return self._run(command, now, token=token)

    def fail(
        self,
        group: str,
        message: str,
        *,
        data: Any = None,
        now: float | None = None,
        token: str | None = None,
    ) -> str:
        """Fail the popped job for good, under a group."""
        record = self.record
        command = c.Fail(self.jid, record.worker, group, message, _or_none(data, "fail", "data"), record.attempt)
        return self._run(command, now, token=token)

    def retry(
        self,
        *,
        delay: float = 0.0,
        group: str | None = None,
        message: str | None = None,
        queue: str | None = None,
        free: bool = False,
        now: float | None = None,
        token: str | None = None,
    ) -> int:
        """Put the popped job back to be tried again after ``delay`` seconds; how many retries remain, below 0: it failed.

        A ``free`` one costs no retry.
        """
        record = self.record
        target = queue or record.queue
        command = c.Retry(self.jid, target, record.worker, delay, group, message, record.attempt, free)
        return self._run(command, now, token=token)

    def heartbeat(self, data: Any = None, *, now: float | None = None) -> float:
        """Renew the popped job's lock; when it will lapse."""
        record = self.record
        command = c.Heartbeat(self.jid, record.worker, _or_none(data, "heartbeat", "data"), record.attempt)
        return self._run(command, now)

    def cancel(self, *, now: float | None = None) -> bool:
        """Remove the job with every trace; True if there was one."""
        return self.jid in self._run(c.Cancel((self.jid,)), now)

    def timeout(self, *, now: float | None = None) -> None:
        """Take the running job's lock away: it is the next that its queue gives out."""
        self._run(c.Timeout((self.jid,)), now)

    def move(
        self,
        queue: str,
        *,
        data: Any = None,
        delay: float = 0.0,
        priority: float | None = None,
        tags: Sequence[str] | None = None,
        retries: int | None = None,
        depends: Sequence[str] = (),
        now: float | None = None,
    ) -> str:
        """Move the job to a queue, renewed; what is left out stays as it is. A worker that holds it loses its lock."""
        command = c.Requeue(
            queue,
            self.jid,
            data=_or_none(data, "requeue", "data"),
            delay=delay,
            priority=priority,
            tags=None if tags is None else names(tags),
            retries=retries,
            depends=names(depends),
        )
        return self._run(command, now)

    def priority(self, priority: float, *, now: float | None = None) -> float:
        """Change the job's priority: higher goes first."""
        return self._run(c.SetPriority(self.jid, priority), now)

    def tag(self, *tags: str, now: float | None = None) -> tuple[str, ...]:
        """Tag the job; all its tags."""
        return self._run(c.AddTags(self.jid, tags), now)

    def untag(self, *tags: str, now: float | None = None) -> tuple[str, ...]:
        """Take tags from the job; the tags left."""
        return self._run(c.RemoveTags(self.jid, tags), now)

    def track(self, *, now: float | None = None) -> bool:
        """Let the job emit events of its own; True if it did not yet."""
        return self._run(c.Track(self.jid), now)

    def untrack(self, *, now: float | None = None) -> bool:
        """Let the job emit no events of its own any more; True if it did."""
        return self._run(c.Untrack(self.jid), now)

    def log(self, message: str, data: dict[str, Any] | None = None, *, now: float | None = None) -> None:
        """Add an entry to the job's history."""
        self._run(c.Log(self.jid, message, _or_none(data, "log", "data")), now)

    def depend(self, *on: str, now: float | None = None) -> None:
        """Let the job, which must be in the depends state, wait for more jobs."""
        self._run(c.Depend(self.jid, on), now)

    def undepend(self, *off: str, now: float | None = None) -> None:
        """Let the job no longer wait for some jobs; for none at all if none is named."""
        self._run(c.Undepend(self.jid, off or None), now)


class Jobs(Part):
    """``client.jobs[jid]``."""

    def __getitem__(self, jid: str) -> JobHandle:
        return JobHandle(self._engine, jid)

    def of(self, record: Job) -> JobHandle:
        """The handle of a job that some command gave: one that was popped can be settled."""
        return JobHandle(self._engine, record.jid, record)

    def get(self, *jids: str, now: float | None = None) -> tuple[Job, ...]:
        """Those of the jobs that exist, in the order asked."""
        return self._run(c.MultiGet(jids), now)

    def cancel(self, *jids: str, now: float | None = None) -> tuple[str, ...]:
        """Remove jobs, all or none; the jids of all that were removed."""
        return self._run(c.Cancel(jids), now)

    def complete(self, *, offset: int = 0, count: int = 25, now: float | None = None) -> tuple[str, ...]:
        """The jids of complete jobs, newest first."""
        return self._run(c.ListJobs("complete", None, offset, count), now)


class Tracked(Part):
    """``client.tracked``: the jobs that someone watches."""

    def get(self, *, now: float | None = None) -> TrackedJobs:
        """The tracked jobs that exist, whole, and the tracked jids that do not."""
        return self._run(c.Tracked(), now)


def _or_none(value: Any, command: str, argument: str) -> str | None:
    return None if value is None else encode(value, command=command, argument=argument)
