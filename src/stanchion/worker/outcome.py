"""What came of running a job, as a value, and the command that settles it."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, replace
from typing import Any, Literal

from stanchion import commands
from stanchion.client.data import RawJSON, encode
from stanchion.commands import Command, Complete, Log
from stanchion.errors import BadArgument
from stanchion.records import Job
from stanchion.rules.backoff import Backoff, Constant, delay_after
from stanchion.rules.names import MAX_NAME_BYTES
from stanchion.tasks import verdicts
from stanchion.tasks.verdicts import Cancel, Fail, Policy, Retry, Snooze

UNKNOWN_KLASS = "unknown-klass"
"""The failure group of jobs whose klass no task of the worker has."""

KILLED = "killed-its-worker"
"""The failure group of jobs that kill the processes they run in, and the entry in their history."""

MOST_CRASHES = 3
"""A job that has killed so many processes is put aside, however many retries it has left."""

HISTORY_CHARACTERS = 2000
"""How much of what the process wrote last goes into the history; a fault's stack is at its end."""

MESSAGE_CHARACTERS = 20_000
"""The longest failure message that is kept: the end of a traceback says most."""


@dataclass(frozen=True)
class Returned:
    """The code returned a value."""

    value: Any


Verdict = Literal["retry", "snooze", "fail", "cancel"]


@dataclass(frozen=True)
class Raised:
    """The code raised, or ran out of time: a short name, and the whole story; and what is to become of the job.

    ``delay``, in seconds, and ``group`` are what the code asked for, if it did.
    """

    name: str
    message: str
    verdict: Verdict = "retry"
    delay: float | None = None
    group: str | None = None


@dataclass(frozen=True)
class Unknown:
    """No code is registered for the job's klass."""


@dataclass(frozen=True)
class Unencodable:
    """The code returned something that has no JSON: why."""

    problem: str


@dataclass(frozen=True)
class Crashed:
    """The process that ran the code died: of what, the most memory it had, in bytes, and what it wrote last."""

    cause: str
    peak: int
    output: str


@dataclass(frozen=True)
class Settled:
    """The code settled the job itself, or the job is no longer ours to settle."""


Outcome = Returned | Raised | Unknown | Unencodable | Crashed | Settled


def ended_by(error: BaseException, policy: Policy) -> Outcome:
    """The outcome of an exception, by what the task says of such."""
    if policy.ignores(error) and not isinstance(error, verdicts.Verdict):
        return Returned(None)
    told = raised(error)
    if policy.fails(error) and not isinstance(error, verdicts.Verdict):
        return replace(told, verdict="fail")
    return told


def raised(error: BaseException) -> Raised:
    """The outcome of an exception, however odd: one that cannot even be printed is named by its type."""
    match error:
        case Retry(delay=delay):
            return Raised("Retry", _told(error), "retry", delay)
        case Snooze(delay=delay):
            return Raised("Snooze", _told(error), "snooze", delay)
        case Fail(group=group):
            return Raised("Fail", _told(error), "fail", group=group)
        case Cancel():
            return Raised("Cancel", _told(error), "cancel")
    return Raised(type(error).__name__, _told(error))


def _told(error: BaseException) -> str:
    try:
        told = str(error) if isinstance(error, verdicts.Verdict) else "".join(traceback.format_exception(error))
    except Exception:  # noqa: BLE001 - a broken __str__ must not become a second failure
        told = f"{type(error).__name__} (its text cannot be read)"
    return told.encode(errors="replace").decode()[-MESSAGE_CHARACTERS:]


def as_text(outcome: Outcome) -> Outcome:
    """The outcome with its value as a JSON text, so that it can travel."""
    if not isinstance(outcome, Returned) or outcome.value is None:
        return outcome
    try:
        return Returned(RawJSON(encode(outcome.value, command="complete", argument="result")))
    except BadArgument as error:
        return Unencodable(str(error))


def settle(job: Job, outcome: Outcome, backoff: Backoff) -> tuple[Command[Any], ...]:
    """The commands that settle a job with this outcome, in order."""
    match as_text(outcome):
        case Returned(value):
            result = None if value is None else value.text
            return (Complete(job.jid, job.worker, job.queue, result=result, attempt=job.attempt),)
        case Raised() as raised:
            return (_by_verdict(job, raised, backoff),)
        case Unencodable(problem):
            # Running it again would give the same: it fails at once, where somebody sees it.
            return (_fail(job, _group(job.queue, "unencodable-result"), problem),)
        case Unknown():
            return (_fail(job, UNKNOWN_KLASS, f"No task or class is registered for klass {job.klass!r} in this worker"),)
        case Crashed() as crash:
            return _after_crash(job, crash, backoff)
        case _:
            return ()


def _by_verdict(job: Job, raised: Raised, backoff: Backoff) -> Command[Any]:
    group = raised.group or _group(job.queue, raised.name)
    match raised.verdict:
        case "snooze":
            return commands.Retry(job.jid, job.queue, job.worker, raised.delay or 0.0, attempt=job.attempt, free=True)
        case "fail":
            return _fail(job, group, raised.message)
        case "cancel":
            return commands.Cancel((job.jid,))
        case _:
            return _retry(job, group, raised.message, backoff if raised.delay is None else Constant(raised.delay))


def crashes(job: Job) -> int:
    """How many attempts have killed their process since the job was put, moved, sent on or unfailed."""
    attempts: set[Any] = set()
    for entry in job.history:
        if entry.what == "put":
            attempts.clear()
        elif entry.what == KILLED:
            attempts.add(entry.more.get("attempt"))
    return len(attempts)


def _after_crash(job: Job, crash: Crashed, backoff: Backoff) -> tuple[Command[Any], ...]:
    before = crashes(job)
    more = {"attempt": job.attempt, "cause": crash.cause, "peak": crash.peak, "output": crash.output[-HISTORY_CHARACTERS:]}
    log = Log(job.jid, KILLED, encode(more, command="log", argument="data"))
    story = f"Attempt {job.attempt} killed its process ({crash.cause}; it had {crash.peak / 2**20:.0f} MiB at most)"
    message = f"{story}\n{crash.output}".strip()[-MESSAGE_CHARACTERS:]
    if before + 1 >= MOST_CRASHES:
        return (log, _fail(job, KILLED, f"{message}\nIt was put aside after {MOST_CRASHES} such attempts"))
    return (log, _retry(job, KILLED, message, backoff))


def _fail(job: Job, group: str, message: str) -> Command[Any]:
    return commands.Fail(job.jid, job.worker, group, message, attempt=job.attempt)


def _retry(job: Job, group: str, message: str, backoff: Backoff) -> Command[Any]:
    tries = job.attempt if job.retries < 0 else job.retries - job.remaining + 1
    try:
        delay = delay_after(backoff, tries)
    except Exception as error:  # noqa: BLE001 - the user's function: its fault is told, and the job is tried again
        delay, message = 0.0, f"{message}\n(its backoff raised {type(error).__name__}: {error})"
    return commands.Retry(job.jid, job.queue, job.worker, delay, group, message, job.attempt)


def _group(queue: str, kind: str) -> str:
    """The failure group of a queue's jobs that ended like this: of names too long for one, the end says most."""
    return f"{queue}-{kind}".encode(errors="replace")[-MAX_NAME_BYTES:].decode(errors="ignore")
