"""What came of running a job, as a value, and the command that settles it."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any

from stanchion.client.data import encode
from stanchion.commands import Command, Complete, Fail, Retry
from stanchion.errors import BadArgument
from stanchion.records import Job
from stanchion.rules.backoff import Backoff, delay_after
from stanchion.rules.names import MAX_NAME_BYTES

UNKNOWN_KLASS = "unknown-klass"
"""The failure group of jobs whose klass no task of the worker has."""

MESSAGE_CHARACTERS = 20_000
"""The longest failure message that is kept: the end of a traceback says most."""


@dataclass(frozen=True)
class Returned:
    """The code returned a value."""

    value: Any


@dataclass(frozen=True)
class Raised:
    """The code raised, or ran out of time: a short name, and the whole story."""

    name: str
    message: str


@dataclass(frozen=True)
class Unknown:
    """No code is registered for the job's klass."""


@dataclass(frozen=True)
class Settled:
    """The code settled the job itself, or the job is no longer ours to settle."""


Outcome = Returned | Raised | Unknown | Settled


def raised(error: BaseException) -> Raised:
    """The outcome of an exception, however odd: one that cannot even be printed is named by its type."""
    name = type(error).__name__
    try:
        message = "".join(traceback.format_exception(error))
    except Exception:  # noqa: BLE001 - a broken __str__ must not become a second failure
        message = f"{name} (its text cannot be read)"
    return Raised(name, message.encode(errors="replace").decode()[-MESSAGE_CHARACTERS:])


def settle(job: Job, outcome: Outcome, backoff: Backoff) -> Command[Any] | None:
    """The command that settles a job with this outcome; None if there is nothing to do."""
    match outcome:
        case Returned(value):
            return _complete(job, value)
        case Raised(name, message):
            return _retry(job, _group(job.queue, name), message, backoff)
        case Unknown():
            message = f"No task or class is registered for klass {job.klass!r} in this worker"
            return Fail(job.jid, job.worker, UNKNOWN_KLASS, message, attempt=job.attempt)
        case Settled():
            return None


def _complete(job: Job, value: Any) -> Command[Any]:
    try:
        result = None if value is None else encode(value, command="complete", argument="result")
        return Complete(job.jid, job.worker, job.queue, result=result, attempt=job.attempt)
    except BadArgument as error:
        # Running it again would give the same: it fails at once, where somebody sees it.
        return Fail(job.jid, job.worker, _group(job.queue, "unencodable-result"), str(error), attempt=job.attempt)


def _retry(job: Job, group: str, message: str, backoff: Backoff) -> Command[Any]:
    tries = job.attempt if job.retries < 0 else job.retries - job.remaining + 1
    try:
        delay = delay_after(backoff, tries)
    except Exception as error:  # noqa: BLE001 - the user's function: its fault is told, and the job is tried again
        delay, message = 0.0, f"{message}\n(its backoff raised {type(error).__name__}: {error})"
    return Retry(job.jid, job.queue, job.worker, delay, group, message, job.attempt)


def _group(queue: str, kind: str) -> str:
    """The failure group of a queue's jobs that ended like this: of names too long for one, the end says most."""
    return f"{queue}-{kind}".encode(errors="replace")[-MAX_NAME_BYTES:].decode(errors="ignore")
