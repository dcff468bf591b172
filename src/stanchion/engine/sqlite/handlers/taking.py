"""pop and peek: handing jobs to workers, and all that is noticed on the way."""

from __future__ import annotations

from collections.abc import Iterable

from stanchion.commands import Peek, Pop
from stanchion.engine.invariants import SET_ASIDE
from stanchion.engine.sqlite.handlers import dependents, events, throttles
from stanchion.engine.sqlite.handlers.configuration import settings
from stanchion.engine.sqlite.handlers.ending import fail_row
from stanchion.engine.sqlite.handlers.history import append, appended, entry
from stanchion.engine.sqlite.handlers.mending import make_readable
from stanchion.engine.sqlite.handlers.rows import SELECT_WHOLE, Row, Whole, job_of, names, problem, reread, wholes
from stanchion.engine.sqlite.handlers.schedule import bring_in_line
from stanchion.engine.sqlite.handlers.settling import NO_LIMIT, exhaust
from stanchion.engine.sqlite.handlers.statistics import count_retries, record
from stanchion.engine.sqlite.handlers.upkeep import keep_up
from stanchion.engine.sqlite.handlers.workers import see
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.records import Job
from stanchion.rules.config import queue_setting, setting

PASSED_OVER = 1000
"""After so many jobs that a throttle holds back, or that are broken, a pop gives what it has found."""

_STALLED = (
    SELECT_WHOLE + "WHERE queue = ? AND state IN ('running', 'stalled') AND state = 'stalled' ORDER BY jobs.seq LIMIT ?"
)
_LAPSED = SELECT_WHOLE + (
    "WHERE queue = ? AND state IN ('running', 'stalled') AND state = 'running' AND expires <= ?"
    " ORDER BY expires, jobs.seq LIMIT ?"
)
_LINE = SELECT_WHOLE + "WHERE queue = ? AND state = 'waiting' ORDER BY priority DESC, ready_at, jobs.seq LIMIT ?"
_RUNNING = "SELECT count(*) FROM jobs WHERE queue = ? AND state = 'running'"
# What most pops find nothing of, in one look.
_GLANCE = """SELECT EXISTS (SELECT 1 FROM queues WHERE name = :queue AND paused = 1),
    EXISTS (SELECT 1 FROM jobs WHERE queue = :queue AND state IN ('running', 'stalled') AND expires <= :now)"""
_HAND_OUT = (
    "UPDATE jobs SET state = 'running', worker = ?, expires = ?, grace = 0, popped_at = ?, attempt = ?, remaining = ?,"
    " ready_at = ?, history = ?, history_count = ? WHERE id = ?"
)


def pop(tx: Transaction, command: Pop) -> tuple[Job, ...]:
    see(tx, command.worker)
    keep_up(tx)
    paused, taken_before = tx.named(_GLANCE, queue=command.queue, now=tx.now)
    if paused:
        return ()
    stalled, over = _taken_before(tx, command) if taken_before else ([], [])
    fresh = _take(tx, command.queue, _room(tx, command.queue, command.count - len(over)) - len(stalled))
    return _hand_out(tx, command, [*stalled, *over, *fresh])


def peek(tx: Transaction, command: Peek) -> tuple[Job, ...]:
    found = wholes(tx, _STALLED, command.queue, command.count)
    found += wholes(tx, _LAPSED, command.queue, tx.now, command.count - len(found))
    left = command.count - len(found)
    if left:
        bring_in_line(tx, command.queue, left)
        line = wholes(tx, _LINE, command.queue, left)
        if len(line) < left and throttles.let_in_queue(tx, command.queue):
            line = wholes(tx, _LINE, command.queue, left)
        found += line
    return tuple(job_of(job, tx.now) for job in found if problem(job) is None)


def set_aside(tx: Transaction, row: Row, reason: str) -> None:
    """Fail a job whose record cannot be trusted, so that the others flow. What cannot be read of it is made readable."""
    mended = make_readable(tx, row)
    fail_row(tx, mended, SET_ASIDE, reason, row.worker)
    dependents.lost(tx, mended)


def _taken_before(tx: Transaction, command: Pop) -> tuple[list[Whole], list[Whole]]:
    """The jobs that somebody had before: stalled ones, and those of which the lock has lapsed and the grace is over."""
    queue, count = command.queue, command.count
    stalled = _admit(tx, wholes(tx, _STALLED, queue, count), _room(tx, queue, count))
    return stalled, _see_to_lapsed(tx, queue, count - len(stalled))


def _see_to_lapsed(tx: Transaction, queue: str, count: int) -> list[Whole]:
    """See to that many lapsed locks, whatever limit is reached; those to hand over now, with the retries that remain."""
    over: list[Whole] = []
    grace = setting(settings(tx), "grace-period")
    warned = 0
    for job in wholes(tx, _LAPSED, queue, tx.now, count):
        reason = problem(job)
        if reason:
            set_aside(tx, job.row, reason)
            continue
        warned += 0 if job.row.grace else 1
        handed = _lapse(tx, job.row, grace)
        if handed:
            over.append(job._replace(row=handed))
    if warned:
        count_retries(tx, queue, warned)
    return over


def _lapse(tx: Transaction, row: Row, grace: float) -> Row | None:
    """See to a lapsed lock: the first time its worker is told and has the grace period, then the job goes on.

    Its row if it is to be handed over; None while the grace lasts, and if no retries are left.
    """
    if not row.grace:
        events.tell_trackers(tx, row, "stalled")
        events.lock_lost(tx, row)
        append(tx, row, entry("timed-out", tx.now))
        if grace > 0:
            tx.run("UPDATE jobs SET expires = ?, grace = 1 WHERE id = ?", tx.now + grace, row.id)
            return None
        row = reread(tx, row.id)
    if row.retries == NO_LIMIT:
        return row._replace(ready_at=row.expires)
    if row.remaining <= 0:
        exhaust(tx, row, row.worker)
        return None
    return row._replace(remaining=row.remaining - 1, ready_at=row.expires)


def _room(tx: Transaction, queue: str, wanted: int) -> int:
    """How many more jobs of the queue may start: what is wanted, within its limit."""
    limit = int(queue_setting(settings(tx), queue, "max-concurrency"))
    return max(0, min(wanted, limit - tx.value(_RUNNING, queue)) if limit > 0 else wanted)


def _take(tx: Transaction, queue: str, count: int) -> list[Whole]:
    """The next jobs of the line."""
    if count > 0:
        bring_in_line(tx, queue, count)
    fresh: dict[int, Whole] = {}  # they stay in the line until all are handed out
    passed_over = 0
    while len(fresh) < count and passed_over < PASSED_OVER:
        wanted = count - len(fresh)
        found = [job for job in wholes(tx, _LINE, queue, len(fresh) + wanted) if job.row.id not in fresh]
        admitted = _admit(tx, found, wanted)
        fresh.update({job.row.id: job for job in admitted})
        passed_over += len(found) - len(admitted)
        if len(found) < wanted and not throttles.let_in_queue(tx, queue):
            break
    return list(fresh.values())


def _admit(tx: Transaction, found: Iterable[Whole], count: int) -> list[Whole]:
    """Those that can start: not broken, and with a place, which they take, in each of their throttles."""
    admitted: list[Whole] = []
    for looked_at, job in enumerate(found):
        if len(admitted) == count or looked_at - len(admitted) == PASSED_OVER:
            break
        reason = problem(job)
        if reason:
            set_aside(tx, job.row, reason)
        elif job.row.throttles == "[]" or _take_places(tx, job.row):
            admitted.append(job)
    return admitted


def _take_places(tx: Transaction, row: Row) -> bool:
    if throttles.has_room(tx, names(row.throttles)):
        throttles.take_places(tx, row.id)
        return True
    append(tx, row, entry("throttled", tx.now, q=row.queue))
    throttles.hold_back(tx, row)
    return False


def _hand_out(tx: Transaction, command: Pop, taken: list[Whole]) -> tuple[Job, ...]:
    if not taken:
        return ()
    expires = tx.now + queue_setting(settings(tx), command.queue, "heartbeat")
    popped = entry("popped", tx.now, worker=command.worker)
    jobs = [job._replace(row=_held(tx, job.row, command.worker, expires, popped)) for job in taken]
    tx.run_many(_HAND_OUT, [_columns(job.row) for job in jobs])
    for job in jobs:
        events.tell_trackers(tx, job.row, "popped")
    record(tx, "wait", command.queue, [tx.now - job.row.ready_at for job in jobs])
    return tuple(job_of(job, tx.now) for job in jobs)


def _held(tx: Transaction, row: Row, worker: str, expires: float, popped: str) -> Row:
    """The row as it is once a worker holds it."""
    text, count = appended(tx, row, popped)
    return row._replace(
        state="running",
        worker=worker,
        expires=expires,
        grace=0,
        popped_at=tx.now,
        attempt=row.attempt + 1,
        history=text,
        history_count=count,
    )


def _columns(row: Row) -> tuple[object, ...]:
    """What being handed out changes, in the order of the statement."""
    return (
        row.worker,
        row.expires,
        row.popped_at,
        row.attempt,
        row.remaining,
        row.ready_at,
        row.history,
        row.history_count,
        row.id,
    )
