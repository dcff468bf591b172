"""A job while it runs, as its code sees it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, TypeVar

from stanchion.client.sync.jobs import JobHandle
from stanchion.commands import Cancel, Command, Complete, Fail, Requeue, Retry, Timeout
from stanchion.errors import JobNotRunning, LockLost
from stanchion.worker.lease import Lease

R = TypeVar("R")

_current: ContextVar[ActiveJob | None] = ContextVar("stanchion_job", default=None)

_SETTLE = (Complete, Fail, Retry, Requeue, Cancel, Timeout)


def current_job() -> ActiveJob:
    """The job that this code runs for. LookupError outside of one."""
    job = _current.get()
    if job is None:
        raise LookupError("no job is running here")
    return job


class LeaseLost(LockLost):
    """The job's lock is no longer this worker's: {why}."""

    code = "lease-lost"

    def __init__(self, why: str = "another may have it", **details: Any) -> None:
        super().__init__(why=why, **details)


class ActiveJob(JobHandle):
    """The running job. Its code may settle it; if it does not, the worker does.

    Calls that change the job raise LeaseLost, which is a LockLost, once another worker may have it, TimeoutError once its time
    is over, and JobNotRunning once its code has settled it.
    """

    def __init__(self, handle: JobHandle, lease: Lease) -> None:
        super().__init__(handle._engine, handle.jid, handle.record)
        self.lease = lease

    @property
    def lost(self) -> bool:
        """Is there nothing left to work for: is the lock lost, or the job's time over?"""
        return self.lease.late or self.lease.lost is not None

    def perform(self, command: Command[R], now: float | None = None) -> R:
        """Run a command for the job's code, as one of the job's own calls."""
        return self._run(command, now)

    def _run(self, command: Command[R], now: float | None, **options: Any) -> R:
        if command.reads:
            return super()._run(command, now, **options)
        self._check()
        # Noted before it happens: the keeper of leases must not take the job, once settled, for one that was lost.
        self.lease.settled = isinstance(command, _SETTLE)
        try:
            return super()._run(command, now, **options)
        except BaseException:
            self.lease.settled = False
            raise

    def _check(self) -> None:
        if self.lease.lost is not None:
            raise LeaseLost(self.lease.lost, jid=self.jid, worker=self.worker)
        if self.lease.late:
            raise TimeoutError(f"job {self.jid} has taken longer than its timeout")
        if self.lease.settled:
            raise JobNotRunning(jid=self.jid, state="settled by its own code")
