"""Running the code of one job, on a thread or on an event loop, to an outcome."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable

from stanchion.tasks.registry import Runnable
from stanchion.worker.active import ActiveJob, _current
from stanchion.worker.interrupt import Interruptible
from stanchion.worker.lease import Lease
from stanchion.worker.outcome import Outcome, Raised, Returned, Settled, ended_by, raised

log = logging.getLogger("stanchion.worker")

Report = Callable[[Lease, Outcome], None]


def on_thread(job: ActiveJob, runnable: Runnable, report: Report) -> tuple[Callable[[], None], Callable[[], None]]:
    """A call that runs the job's code and reports the outcome, which never raises; and one that breaks into that code."""
    code = Interruptible()

    def run() -> None:
        report(job.lease, code.run(lambda: contextvars.copy_context().run(perform, job, runnable), raised))

    return run, code.interrupt


async def on_loop(job: ActiveJob, runnable: Runnable, report: Report) -> None:
    """Await the job's code and report the outcome; it never raises. Canceled, it cancels the code."""
    _current.set(job)
    try:
        async with asyncio.timeout(runnable.timeout):
            outcome: Outcome = Returned(await runnable.call(job))
    except BaseException as error:  # noqa: BLE001 - whatever the code raises is its outcome
        outcome = ended_by(error, runnable.policy)
    report(job.lease, judge(job.lease, outcome, runnable.timeout))


def perform(job: ActiveJob, runnable: Runnable) -> Outcome:
    """Call the job's code, here and now, to its outcome."""
    _current.set(job)
    try:
        outcome: Outcome = Returned(runnable.call(job))
    except BaseException as error:  # noqa: BLE001 - whatever the code raises is its outcome, sys.exit included
        outcome = ended_by(error, runnable.policy)
    return judge(job.lease, outcome, runnable.timeout)


def judge(lease: Lease, outcome: Outcome, timeout: float | None) -> Outcome:
    """What the code's end means: nothing if the job is settled or lost, a failure if it came too late."""
    story = outcome.message if isinstance(outcome, Raised) else ""
    if lease.settled or lease.lost is not None:
        if lease.settled and story:
            log.warning("job %s raised after its code had settled it: %s", lease.job.jid, story)
        return Settled()
    if lease.late:
        # A thread cannot be stopped from outside: it is told at its next call, and fails when it ends.
        return Raised("TimeoutError", f"The job took longer than its timeout of {timeout} s\n{story}".strip())
    return outcome
