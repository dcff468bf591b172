"""Running the code of one job, on a thread or on the event loop, to an outcome."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any

from stanchion.errors import LockLost
from stanchion.tasks.registry import Runnable
from stanchion.worker.active import ActiveJob, _current
from stanchion.worker.outcome import Outcome, Raised, Returned, Settled, raised

Report = Callable[[ActiveJob, Outcome], None]


def on_thread(job: ActiveJob, runnable: Runnable, report: Report) -> Callable[[], None]:
    """A call that runs the job's code and reports the outcome; it never raises."""

    def run() -> None:
        report(job, contextvars.copy_context().run(_perform, job, runnable))

    return run


async def on_loop(job: ActiveJob, runnable: Runnable, report: Report) -> None:
    """Await the job's code and report the outcome; it never raises. Canceled, it cancels the code."""
    _current.set(job)
    try:
        async with asyncio.timeout(runnable.timeout):
            outcome: Outcome = Returned(await runnable.call(job))
    except asyncio.CancelledError:
        outcome = Settled() if job.lost else Raised("Cancelled", "The job's task was cancelled")
    except BaseException as error:  # noqa: BLE001 - whatever the code raises is its outcome
        outcome = _of_error(job, error)
    report(job, Settled() if job.settled else outcome)


def start(runnable: Runnable, job: ActiveJob, report: Report) -> Coroutine[Any, Any, None] | Callable[[], None]:
    """The job as a coroutine for the loop, or as a call for a thread."""
    if runnable.is_async(job.queue):
        return on_loop(job, runnable, report)
    return on_thread(job, runnable, report)


def _perform(job: ActiveJob, runnable: Runnable) -> Outcome:
    _current.set(job)
    try:
        outcome: Outcome = Returned(runnable.call(job))
    except BaseException as error:  # noqa: BLE001 - whatever the code raises is its outcome, sys.exit included
        outcome = _of_error(job, error)
    if job.settled:
        return Settled()
    if job.lost == TIMED_OUT:
        # A thread cannot be stopped from outside: it is told at its next call, and fails when it ends.
        return Raised("TimeoutError", f"The job took longer than its timeout of {runnable.timeout} s")
    return Settled() if job.lost else outcome


TIMED_OUT = "its time is over"


def _of_error(job: ActiveJob, error: BaseException) -> Outcome:
    return Settled() if isinstance(error, LockLost) and job.lost not in (None, TIMED_OUT) else raised(error)
