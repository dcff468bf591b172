"""A handle on a job that was put: how it stands, and what it returned."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

from stanchion.client.sync.client import Client
from stanchion.errors import JobFailed, JobNotFound
from stanchion.records import Job
from stanchion.states import State

R = TypeVar("R")

_OVER = ("completed", "failed", "canceled")
LOOK = 5.0
"""Seconds after which a waiting handle looks at the job itself: events are only hints."""


class Handle(Generic[R]):
    """A job that will return an R."""

    def __init__(self, client: Callable[[], Client], jid: str, read: Callable[[str], Any]) -> None:
        self._client = client
        self._read = read
        self.jid = jid

    def __repr__(self) -> str:
        return f"<Handle {self.jid}>"

    def get(self) -> Job | None:
        """The job as it is; None if there is none any more."""
        return self._client().jobs[self.jid].get()

    def result(self, timeout: float | None = None) -> R:
        """What the task returned, once its job is complete.

        Raises JobFailed if it failed for good, JobNotFound if it was canceled or forgotten, TimeoutError if it is not over
        within ``timeout`` seconds (None: wait without end).
        """
        job = self._get()
        if not _over(job):
            job = self._wait(timeout)
        if job.failure is not None and job.state == State.FAILED:
            raise JobFailed(jid=self.jid, group=job.failure.group, message=job.failure.message)
        value: R = None if job.result is None else self._read(job.result)  # type: ignore[assignment]
        return value

    def _wait(self, timeout: float | None) -> Job:
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._client().events.subscribe("log") as events:
            while not _over(job := self._get()):
                left = LOOK if deadline is None else min(LOOK, deadline - time.monotonic())
                if left <= 0:
                    raise TimeoutError(f"job {self.jid} is {job.state} after {timeout} s")
                self._hear(events, time.monotonic() + left)
            return job

    def _hear(self, events: Any, until: float) -> None:
        """Sleep until an event says that the job is over, or until then."""
        while (left := until - time.monotonic()) > 0 and (event := events.get(left)) is not None:
            message = msgspec.json.decode(event.message)
            if message.get("jid") == self.jid and message["event"] in _OVER:
                return

    def _get(self) -> Job:
        job = self.get()
        if job is None:
            raise JobNotFound(jid=self.jid)
        return job


def _over(job: Job) -> bool:
    return job.state in (State.COMPLETE, State.FAILED)
