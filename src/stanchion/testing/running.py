"""Running the code of one job here and now, as a worker would, with what it raised at hand."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stanchion.client.sync.client import Client
from stanchion.commands import Command
from stanchion.records import Job
from stanchion.rules.backoff import Constant
from stanchion.tasks.registry import Runnable
from stanchion.worker.active import ActiveJob
from stanchion.worker.lease import Lease, new_lease
from stanchion.worker.outcome import Outcome, Unknown, settle
from stanchion.worker.perform import on_loop, perform


class Endless(AssertionError):
    """The jobs do not come to an end."""


@dataclass(frozen=True)
class Ran:
    """A job that ran: as it was popped, how its code ended, and the exception, if it raised one."""

    job: Job
    outcome: Outcome
    error: BaseException | None = None


class Run:
    """One job's code, to be run once: with ``call``, or awaited."""

    def __init__(self, client: Client, job: Job, runnable: Runnable | None, before: Callable[[Lease], None]) -> None:
        self.job = job
        self.runnable = runnable and runnable._replace(call=self._noting(runnable))
        self._lease = new_lease(job, 0.0)
        self._active = ActiveJob(client.jobs.of(job), self._lease)
        self._before = before
        self._error: BaseException | None = None

    @property
    def is_async(self) -> bool:
        """Must it be awaited?"""
        return self.runnable is not None and self.runnable.is_async(self.job.queue)

    def call(self) -> Ran:
        """Run it. What is no Exception, such as Ctrl-C and a test's own failure, goes to the caller."""
        if self.runnable is None:
            return Ran(self.job, Unknown())
        self._before(self._lease)
        return self._ran(contextvars.copy_context().run(perform, self._active, self.runnable))

    async def awaited(self) -> Ran:
        """The same, on the event loop that runs."""
        if self.runnable is None or not self.is_async:
            return self.call()
        self._before(self._lease)
        outcomes: list[Outcome] = []
        await on_loop(self._active, self.runnable, lambda _, outcome: outcomes.append(outcome))
        return self._ran(outcomes[0])

    def _ran(self, outcome: Outcome) -> Ran:
        if self._error is not None and not isinstance(self._error, Exception):
            raise self._error
        return Ran(self.job, outcome, self._error)

    def _noting(self, runnable: Runnable) -> Callable[[Any], Any]:
        def call(job: Any) -> Any:
            try:
                return runnable.call(job)
            except BaseException as error:
                self._error = error
                raise

        async def awaited(job: Any) -> Any:
            try:
                return await runnable.call(job)
            except BaseException as error:
                self._error = error
                raise

        return awaited if runnable.is_async(self.job.queue) else call


def settlement(ran: Ran, runnable: Runnable | None) -> tuple[Command[Any], ...]:
    """The commands with which a worker would settle the job."""
    return settle(ran.job, ran.outcome, runnable.backoff if runnable else Constant(0.0))
