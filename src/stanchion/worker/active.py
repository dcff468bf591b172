"""A job while it runs, as its code sees it."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from stanchion.client.sync.jobs import JobHandle
from stanchion.errors import JobNotRunning, LockLost

_current: ContextVar[ActiveJob | None] = ContextVar("stanchion_job", default=None)


def current_job() -> ActiveJob:
    """The job that this code runs for. LookupError outside of one."""
    job = _current.get()
    if job is None:
        raise LookupError("no job is running here")
    return job


class ActiveJob(JobHandle):
    """The running job. Its calls raise LockLost once another worker may have it, or its time is over."""

    def __init__(self, handle: JobHandle) -> None:
        super().__init__(handle._engine, handle.jid, handle.record)
        self.settled = False
        self.lost: str | None = None

    def lose(self, why: str) -> None:
        """Note that the job is no longer this worker's: the next call of its code raises LockLost."""
        self.lost = why

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
        """Finish the job, or send it on to the ``next`` queue; its new state. The worker settles it no more."""
        self._check()
        state = super().complete(data=data, result=result, next=next, delay=delay, depends=depends, now=now, token=token)
        self.settled = True
        return state

    def fail(self, group: str, message: str, *, data: Any = None, now: float | None = None, token: str | None = None) -> str:
        """Fail the job for good, under a group. The worker settles it no more."""
        self._check()
        jid = super().fail(group, message, data=data, now=now, token=token)
        self.settled = True
        return jid

    def retry(
        self,
        *,
        delay: float = 0.0,
        group: str | None = None,
        message: str | None = None,
        queue: str | None = None,
        now: float | None = None,
        token: str | None = None,
    ) -> int:
        """Put the job back to be tried again; how many retries remain. The worker settles it no more."""
        self._check()
        remaining = super().retry(delay=delay, group=group, message=message, queue=queue, now=now, token=token)
        self.settled = True
        return remaining

    def heartbeat(self, data: Any = None, *, now: float | None = None) -> float:
        """Renew the lock by hand, and keep ``data`` with the job, so that the next try can go on from there."""
        self._check()
        return super().heartbeat(data, now=now)

    def log(self, message: str, data: dict[str, Any] | None = None, *, now: float | None = None) -> None:
        """Add an entry to the job's history."""
        self._check()
        super().log(message, data, now=now)

    def _check(self) -> None:
        if self.lost is not None:
            raise LockLost(jid=self.jid, worker=self.worker, holder=self.lost)
        if self.settled:
            raise JobNotRunning(jid=self.jid, state="settled by its own code")
