"""complete, complete_many, fail, retry, heartbeat, timeout: what a job's holder, or an operator, does to a running job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from stanchion.commands import Complete, CompleteMany, Fail, Heartbeat, Retry, Timeout
from stanchion.engine.sqlite.handlers import dependents, events, throttles
from stanchion.engine.sqlite.handlers.configuration import settings
from stanchion.engine.sqlite.handlers.dependents import refuse_circle, tell_of_failed, unfinished
from stanchion.engine.sqlite.handlers.ending import fail_row
from stanchion.engine.sqlite.handlers.history import append, appended, entry
from stanchion.engine.sqlite.handlers.line import announce, know_queue, leave, place
from stanchion.engine.sqlite.handlers.putting import depend_on, line_up_again
from stanchion.engine.sqlite.handlers.rows import Row, checksum, encode_failure, names, require
from stanchion.engine.sqlite.handlers.statistics import record
from stanchion.engine.sqlite.handlers.upkeep import keep_up
from stanchion.engine.sqlite.handlers.workers import see
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.errors import BadArgument, JobNotRunning, LockLost, StanchionError, WrongQueue
from stanchion.rules.config import queue_setting
from stanchion.states import State

NO_LIMIT = -1

_COMPLETE = (
    "UPDATE jobs SET state = 'complete', queue = '', worker = '', expires = 0, grace = 0, due = 0, completed_at = ?,"
    " history = ?, history_count = ? WHERE id = ?"
)


def complete(tx: Transaction, command: Complete) -> str:
    (state,) = _complete_all(tx, [command])
    return state


def complete_many(tx: Transaction, command: CompleteMany) -> tuple[str, ...]:
    return tuple(_complete_all(tx, command.completes, many=True))


def fail(tx: Transaction, command: Fail) -> str:
    row = _held(tx, command.jid, command.worker, command.attempt)
    _keep(tx, row, command.data)
    fail_row(tx, row, command.group, command.message, command.worker)
    dependents.lost(tx, row)
    return command.jid


def retry(tx: Transaction, command: Retry) -> int:
    row = _held(tx, command.jid, command.worker, command.attempt)
    remaining = NO_LIMIT if row.retries == NO_LIMIT else row.remaining - (not command.free)
    if remaining < 0 and row.retries != NO_LIMIT:
        exhaust(tx, row, command.worker, command.group, command.message)
        return remaining
    leave(tx, row)
    where = place(tx, tx.now + command.delay if command.delay else 0.0, False, names(row.throttles), tx.now)
    failure = row.failure
    if command.group is not None:
        failure = encode_failure(command.group, command.message or "", tx.now, command.worker)
    tx.run(
        "UPDATE jobs SET queue = ?, state = ?, ready_at = ?, due = ?, worker = '', expires = 0, grace = 0, remaining = ?,"
        " failure = ? WHERE id = ?",
        *(command.queue, where.state, where.ready_at, where.due, remaining, failure, row.id),
    )
    know_queue(tx, command.queue)
    announce(tx, command.queue, where)
    return remaining


def heartbeat(tx: Transaction, command: Heartbeat) -> float:
    row = _held(tx, command.jid, command.worker, command.attempt)
    expires = tx.now + queue_setting(settings(tx), row.queue, "heartbeat")
    tx.run("UPDATE jobs SET expires = ?, grace = 0 WHERE id = ?", expires, row.id)
    _keep(tx, row, command.data)
    see(tx, command.worker)
    return expires


def timeout(tx: Transaction, command: Timeout) -> None:
    held = [_running(tx, jid) for jid in command.jids]
    for row in held:
        leave(tx, row)
        append(tx, row, entry("timed-out", tx.now))
        tx.run(
            "UPDATE jobs SET state = 'stalled', worker = '', expires = 0, grace = 0, ready_at = ? WHERE id = ?",
            tx.now,
            row.id,
        )
        events.lock_lost(tx, row)
        tx.wake(row.queue)


def exhaust(tx: Transaction, row: Row, worker: str, group: str | None = None, message: str | None = None) -> None:
    """Fail a job that has no retries left."""
    fail_row(
        tx,
        row,
        group or f"failed-retries-{row.queue}",
        message if message is not None else f'Job exhausted retries in queue "{row.queue}"',
        worker,
    )
    dependents.lost(tx, row)


def _complete_all(tx: Transaction, commands: Sequence[Complete], *, many: bool = False) -> list[str]:
    """Complete jobs, and then do at once for all of them what need not be done for each."""
    runs: dict[str, list[float]] = defaultdict(list)
    states = []
    for index, command in enumerate(commands):
        try:
            states.append(_complete(tx, command, runs[command.queue]))
        except StanchionError as error:
            if not many:
                raise
            problem = f"was refused: {error}"
            raise BadArgument(command="complete_many", argument=f"completes[{index}]", problem=problem) from error
    for queue, durations in runs.items():
        record(tx, "run", queue, durations)
    keep_up(tx, states.count(State.COMPLETE))
    return states


def _complete(tx: Transaction, command: Complete, runs: list[float]) -> str:
    row = _held(tx, command.jid, command.worker, command.attempt)
    if row.queue != command.queue:
        raise WrongQueue(jid=row.jid, queue=command.queue, actual=row.queue)
    state = _finish(tx, row, command) if command.next is None else _advance(tx, row, command, command.next)
    runs.append(tx.now - row.popped_at)
    return state


def _finish(tx: Transaction, row: Row, command: Complete) -> str:
    leave(tx, row)
    throttles.leave(tx, row)
    tx.run(_COMPLETE, tx.now, *appended(tx, row, entry("done", tx.now)), row.id)
    _keep(tx, row, command.data)
    if command.result is not None:
        tx.run("UPDATE payloads SET result = ? WHERE job = ?", command.result, row.id)
    events.tell_trackers(tx, row, "completed")
    events.log(tx, "completed", jid=row.jid, queue=row.queue)
    dependents.completed(tx, row)
    return State.COMPLETE


def _advance(tx: Transaction, row: Row, command: Complete, queue: str) -> str:
    on = unfinished(tx, command.depends, row.on_dependency_failure)  # type: ignore[arg-type]
    if on:
        refuse_circle(tx, row.jid, [other.jid for other in on])
    leave(tx, row)
    due = tx.now + command.delay if command.delay else 0.0
    where = place(tx, due, bool(on), names(row.throttles), tx.now)
    # The places were given back just now, so the row to renew no longer runs.
    line_up_again(tx, row._replace(state=State.WAITING), queue, where, entry("done", tx.now))
    depend_on(tx, row.id, on)
    _keep(tx, row, command.data)
    if command.result is not None:
        tx.run("UPDATE payloads SET result = ? WHERE job = ?", command.result, row.id)
    know_queue(tx, queue)
    events.tell_trackers(tx, row, "completed")
    events.log(tx, "advanced", jid=row.jid, queue=row.queue, to=queue)
    tell_of_failed(tx, on)
    return tx.value("SELECT state FROM jobs WHERE id = ?", row.id) or where.state


def _keep(tx: Transaction, row: Row, data: str | None) -> None:
    if data is not None:
        tx.run("UPDATE payloads SET data = ? WHERE job = ?", data, row.id)
        tx.run("UPDATE jobs SET checksum = ? WHERE id = ?", checksum(row.klass, data), row.id)


def _running(tx: Transaction, jid: str) -> Row:
    row = require(tx, jid)
    if row.state != State.RUNNING:
        raise JobNotRunning(jid=jid, state=row.state)
    return row


def _held(tx: Transaction, jid: str, worker: str, attempt: int | None) -> Row:
    row = _running(tx, jid)
    if row.worker != worker:
        raise LockLost(jid=jid, worker=worker, holder=row.worker)
    if attempt is not None and attempt != row.attempt:
        raise LockLost(jid=jid, worker=worker, holder=f"attempt {row.attempt}")
    return row
