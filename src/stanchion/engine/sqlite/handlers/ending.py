"""The ends of a job that others cause too: it fails, or it is removed. What follows for its dependents is ``dependents``'."""

from __future__ import annotations

from collections.abc import Iterable

from stanchion.engine.sqlite.handlers import events, throttles
from stanchion.engine.sqlite.handlers.history import appended, entry
from stanchion.engine.sqlite.handlers.line import leave
from stanchion.engine.sqlite.handlers.rows import Row, encode_failure, numbers
from stanchion.engine.sqlite.handlers.statistics import count_failure
from stanchion.engine.sqlite.transaction import Transaction

_FAIL = (
    "UPDATE jobs SET state = 'failed', worker = '', expires = 0, grace = 0, due = 0, failure = ?, failure_group = ?,"
    " failed_at = ?, history = ?, history_count = ? WHERE id = ?"
)

_REMOVE = tuple(
    f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))"
    for table, column in {
        "payloads": "job",
        "tags": "job",
        "dependencies": "job",
        "releases": "job",
        "jobs": "id",
    }.items()
)


def fail_row(tx: Transaction, row: Row, group: str, message: str, worker: str) -> None:
    """Fail a job. ``worker`` is who had it last; empty if nobody did."""
    leave(tx, row)
    written = appended(tx, row, entry("failed", tx.now, worker=worker, group=group))
    tx.run(_FAIL, encode_failure(group, message, tx.now, worker), group, tx.now, *written, row.id)
    tx.run("DELETE FROM dependencies WHERE job = ?", row.id)
    count_failure(tx, row.queue)
    events.log(tx, "failed", jid=row.jid, worker=worker, group=group, message=message)
    events.tell_trackers(tx, row, "failed")


def remove_row(tx: Transaction, row: Row) -> None:
    """Remove a job with every trace of its own; links from its dependents are the caller's to cut."""
    leave(tx, row)
    throttles.leave(tx, row)
    _remove(tx, [row.id])


def forget(tx: Transaction, complete: Iterable[int]) -> None:
    """Remove complete jobs that nobody waits for: they are in no place that they would have to leave."""
    _remove(tx, complete)


def cancel_row(tx: Transaction, row: Row) -> None:
    """Remove a job because somebody wants it gone, and say so."""
    remove_row(tx, row)
    events.log(tx, "canceled", jid=row.jid, worker=row.worker, queue=row.queue)
    events.tell_worker(tx, row.worker, "canceled", jid=row.jid, worker=row.worker, queue=row.queue)
    events.tell_trackers(tx, row, "canceled")
    tx.run("DELETE FROM tracked WHERE jid = ?", row.jid)


def _remove(tx: Transaction, jobs: Iterable[int]) -> None:
    ids = numbers(jobs)
    for sql in _REMOVE:
        tx.run(sql, ids)
