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
from stanchion.engine.sqlite.handlers.rows import SELECT, Row, job_of, names, problem, reread, rows
from stanchion.engine.sqlite.handlers.settling import NO_LIMIT, exhaust
from stanchion.engine.sqlite.handlers.spawning import spawn_due
from stanchion.engine.sqlite.handlers.statistics import count_retries, record
from stanchion.engine.sqlite.handlers.upkeep import keep_up
from stanchion.engine.sqlite.handlers.workers import see
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.records import Job
from stanchion.rules.config import queue_setting, setting

PASSED_OVER = 1000
"""After so many jobs that a throttle holds back, or that are broken, a pop gives what it has found."""

_STALLED = SELECT + "WHERE queue = ? AND state IN ('running', 'stalled') AND state = 'stalled' ORDER BY jobs.seq LIMIT ?"
_LAPSED = SELECT + (
    "WHERE queue = ? AND state IN ('running', 'stalled') AND state = 'running' AND expires <= ?"
    " ORDER BY expires, jobs.seq LIMIT ?"
)
_LINE = SELECT + "WHERE queue = ? AND state = 'waiting' ORDER BY priority DESC, ready_at, jobs.seq LIMIT ?"
_COME_DUE = "UPDATE jobs SET state = 'waiting', ready_at = due, due = 0 WHERE queue = ? AND state = 'scheduled' AND due <= ?"
_RUNNING = "SELECT count(*) FROM jobs WHERE queue = ? AND state = 'running'"
# What most pops find nothing of, in one look.
_GLANCE = """SELECT EXISTS (SELECT 1 FROM queues WHERE name = :queue AND paused = 1),
    EXISTS (SELECT 1 FROM jobs WHERE queue = :queue AND state IN ('running', 'stalled') AND expires <= :now)"""
_DUE = """SELECT EXISTS (SELECT 1 FROM recurring WHERE queue = :queue AND next_due <= :now),
    EXISTS (SELECT 1 FROM jobs WHERE queue = :queue AND state = 'scheduled' AND due <= :now)"""
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
    found = rows(tx, _STALLED, command.queue, command.count)
    found += rows(tx, _LAPSED, command.queue, tx.now, command.count - len(found))
    left = command.count - len(found)
    if left:
        _bring_in_line(tx, command.queue, left)
        line = rows(tx, _LINE, command.queue, left)
        if len(line) < left and throttles.let_in_queue(tx, command.queue):
            line = rows(tx, _LINE, command.queue, left)
        found += line
    return tuple(job_of(row, tx.now) for row in found if problem(row) is None)


def _taken_before(tx: Transaction, command: Pop) -> tuple[list[Row], list[Row]]:
    """The jobs that somebody had before: stalled ones, and those of which the lock has lapsed and the grace is over."""
    queue, count = command.queue, command.count
    stalled = _admit(tx, rows(tx, _STALLED, queue, count), _room(tx, queue, count))
    return stalled, _see_to_lapsed(tx, queue, count - len(stalled))


def _see_to_lapsed(tx: Transaction, queue: str, count: int) -> list[Row]:
    """See to that many lapsed locks, whatever limit is reached; those to hand over now, with the retries that remain."""
    over: list[Row] = []
    grace = setting(settings(tx), "grace-period")
    warned = 0
    for row in rows(tx, _LAPSED, queue, tx.now, count):
        if problem(row):
            set_aside(tx, row)
        else:
            warned += 0 if row.grace else 1
            _lapse(tx, row, grace, over)
    if warned:
        count_retries(tx, queue, warned)
    return over


def _lapse(tx: Transaction, row: Row, grace: float, over: list[Row]) -> None:
    """See to a lapsed lock: the first time its worker is told and has the grace period, then the job goes on."""
    if not row.grace:
        events.tell_trackers(tx, row, "stalled")
        events.lock_lost(tx, row)
        append(tx, row, entry("timed-out", tx.now))
        if grace > 0:
            tx.run("UPDATE jobs SET expires = ?, grace = 1 WHERE id = ?", tx.now + grace, row.id)
            return
        row = reread(tx, row.id)
    remaining = NO_LIMIT if row.retries == NO_LIMIT else row.remaining - 1
    if remaining < 0 and row.retries != NO_LIMIT:
        exhaust(tx, row, row.worker)
    else:
        over.append(row._replace(remaining=remaining, ready_at=row.expires))


def _room(tx: Transaction, queue: str, wanted: int) -> int:
    """How many more jobs of the queue may start: what is wanted, within its limit."""
    limit = int(queue_setting(settings(tx), queue, "max-concurrency"))
    return max(0, min(wanted, limit - tx.value(_RUNNING, queue)) if limit > 0 else wanted)


def _take(tx: Transaction, queue: str, count: int) -> list[Row]:
    """The next jobs of the line."""
    if count > 0:
        _bring_in_line(tx, queue, count)
    fresh: dict[int, Row] = {}  # they stay in the line until all are handed out
    passed_over = 0
    while len(fresh) < count and passed_over < PASSED_OVER:
        wanted = min(count - len(fresh), PASSED_OVER)
        line = rows(tx, _LINE, queue, len(fresh) + wanted)
        found = [row for row in line if row.id not in fresh]
        admitted = _admit(tx, found, wanted)
        fresh.update({row.id: row for row in admitted})
        passed_over += len(found) - len(admitted)
        if len(found) < wanted and not throttles.let_in_queue(tx, queue):
            break
    return list(fresh.values())


def _bring_in_line(tx: Transaction, queue: str, count: int) -> None:
    recurring, scheduled = tx.named(_DUE, queue=queue, now=tx.now)
    if recurring:
        spawn_due(tx, queue, count)
    if scheduled:
        tx.run(_COME_DUE, queue, tx.now)


def _admit(tx: Transaction, found: Iterable[Row], count: int) -> list[Row]:
    """Those that can start: not broken, and with a place, which they take, in each of their throttles."""
    admitted: list[Row] = []
    for row in found:
        if len(admitted) == count:
            break
        if problem(row):
            set_aside(tx, row)
        elif row.throttles == "[]" or _take_places(tx, row):
            admitted.append(row)
    return admitted


def _take_places(tx: Transaction, row: Row) -> bool:
    if throttles.has_room(tx, names(row.throttles)):
        throttles.take_places(tx, row.id)
        return True
    append(tx, row, entry("throttled", tx.now, q=row.queue))
    throttles.hold_back(tx, row)
    return False


def _hand_out(tx: Transaction, command: Pop, taken: list[Row]) -> tuple[Job, ...]:
    expires = tx.now + queue_setting(settings(tx), command.queue, "heartbeat")
    popped = entry("popped", tx.now, worker=command.worker)
    jobs = []
    for row in taken:
        text, count = appended(tx, row, popped)
        held = row._replace(
            state="running",
            worker=command.worker,
            expires=expires,
            grace=0,
            popped_at=tx.now,
            attempt=row.attempt + 1,
            history=text,
            history_count=count,
        )
        tx.run(
            _HAND_OUT,
            held.worker,
            expires,
            tx.now,
            held.attempt,
            held.remaining,
            held.ready_at,
            text,
            count,
            held.id,
        )
        events.tell_trackers(tx, held, "popped")
        jobs.append(job_of(held, tx.now))
    if taken:
        record(tx, "wait", command.queue, [tx.now - row.ready_at for row in taken])
    return tuple(jobs)


def set_aside(tx: Transaction, row: Row, reason: str | None = None) -> None:
    """Fail a job whose record cannot be trusted, so that the others flow. What cannot be read of it is made readable."""
    mended = make_readable(tx, row)
    fail_row(tx, mended, SET_ASIDE, reason or problem(row) or "", row.worker)
    dependents.lost(tx, mended)
