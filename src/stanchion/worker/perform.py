"""Running the code of one job, on a thread or on the event loop, to an outcome."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable

from stanchion.tasks.registry import Runnable
from stanchion.worker.active import ActiveJob, _current
from stanchion.worker.lease import Lease
from stanchion.worker.outcome import Outcome, Raised, Returned, Settled, raised

log = logging.getLogger("stanchion.worker")

Report = Callable[[Lease, Outcome], None]


def on_thread(job: ActiveJob, runnable: Runnable, report: Report) -> Callable[[], None]:
    """A call that runs the job's code and reports the outcome; it never raises."""

    def run() -> None:
        report(job.lease, contextvars.copy_context().run(_perform, job, runnable))

    return run


async def on_loop(job: ActiveJob, runnable: Runnable, report: Report) -> None:
    """Await the job's code and report the outcome; it never raises. Canceled, it cancels the code."""
    _current.set(job)
    try:
        async with asyncio.timeout(runnable.timeout):
            outcome: Outcome = Returned(await runnable.call(job))
    except BaseException as error:  # noqa: BLE001 - whatever the code raises is its outcome
        outcome = raised(error)
    report(job.lease, _judge(job.lease, outcome, runnable))


def _perform(job: ActiveJob, runnable: Runnable) -> Outcome:
    _current.set(job)
    try:
        outcome: Outcome = Returned(runnable.call(job))
    except BaseException as error:  # noqa: BLE001 - whatever the code raises is its outcome, sys.exit included
        outcome = raised(error)
    return _judge(job.lease, outcome, runnable)


def _judge(lease: Lease, outcome: Outcome, runnable: Runnable) -> Outcome:
    """What the code's end means: nothing if the job is settled or lost, a failure if it came too late."""
    story = outcome.message if isinstance(outcome, Raised) else ""
    if lease.settled or lease.lost is not None:
        if lease.settled and story:
            log.warning("job %s raised after its code had settled it: %s", lease.job.jid, story)
        return Settled()
    if lease.late:
        # A thread cannot be stopped from outside: it is told at its next call, and fails when it ends.
        return Raised("TimeoutError", f"The job took longer than its timeout of {runnable.timeout} s\n{story}".strip())
    return outcome
