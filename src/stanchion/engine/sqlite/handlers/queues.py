"""queues, counts, length, jobs, pause, unpause, queue.forget.

A scheduled job whose time has come counts as waiting: nothing has to be moved to read.
"""

from __future__ import annotations

from stanchion.commands import AllCounts, Counts, ForgetQueues, Length, ListJobs, Pause, Unpause
from stanchion.engine.sqlite.handlers.line import KNOWN
from stanchion.engine.sqlite.handlers.rows import texts
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.records import QueueCounts

_COUNTS = """SELECT
    (SELECT count(*) FROM jobs WHERE queue = :queue AND state = 'waiting')
        + (SELECT count(*) FROM jobs WHERE queue = :queue AND state = 'scheduled' AND due <= :now),
    (SELECT count(*) FROM jobs WHERE queue = :queue AND state IN ('running', 'stalled') AND expires > :now),
    (SELECT count(*) FROM jobs WHERE queue = :queue AND state IN ('running', 'stalled') AND expires <= :now),
    (SELECT count(*) FROM jobs WHERE queue = :queue AND state = 'scheduled' AND due > :now),
    (SELECT count(*) FROM jobs WHERE queue = :queue AND state IN ('depends', 'throttled') AND state = 'depends'),
    (SELECT count(*) FROM jobs WHERE queue = :queue AND state IN ('depends', 'throttled') AND state = 'throttled'),
    (SELECT count(*) FROM recurring WHERE queue = :queue),
    EXISTS (SELECT 1 FROM queues WHERE name = :queue AND paused = 1)"""

# What each listing finds and in which order; the numbered parameters are the queue, now, the count and the offset.
_JOBS = "SELECT jid FROM jobs WHERE queue = ?1 AND "
_LISTINGS = {
    "waiting": _JOBS + "(state = 'waiting' OR (state = 'scheduled' AND due <= ?2))"
    " ORDER BY priority DESC, CASE state WHEN 'scheduled' THEN due ELSE ready_at END, seq",
    "running": _JOBS + "state IN ('running', 'stalled') AND expires > ?2 ORDER BY expires, seq",
    "stalled": _JOBS + "state IN ('running', 'stalled') AND expires <= ?2 ORDER BY expires, seq",
    "scheduled": _JOBS + "state = 'scheduled' AND due > ?2 ORDER BY due, seq",
    "depends": _JOBS + "state IN ('depends', 'throttled') AND state = 'depends' AND ?2 IS NOT NULL ORDER BY ready_at, seq",
    "blocked": _JOBS + "state IN ('depends', 'throttled') AND state = 'depends' AND ?2 IS NOT NULL AND EXISTS (SELECT 1 FROM"
    " dependencies JOIN jobs AS other ON other.id = on_job WHERE job = jobs.id AND other.state = 'failed')"
    " ORDER BY ready_at, seq",
    "throttled": _JOBS
    + "state IN ('depends', 'throttled') AND state = 'throttled' AND ?2 IS NOT NULL ORDER BY ready_at, seq",
    "recurring": "SELECT jid FROM recurring WHERE queue = ?1 AND ?2 IS NOT NULL ORDER BY next_due, jid",
    "complete": "SELECT jid FROM jobs WHERE state = 'complete' AND ?1 IS NULL AND ?2 IS NOT NULL"
    " ORDER BY completed_at DESC, seq DESC",
}
_NAMED = "name IN (SELECT value FROM json_each(?))"
_DROP = f"DELETE FROM queues WHERE known = 0 AND paused = 0 AND {_NAMED}"
_PAGE = " LIMIT ?3 OFFSET ?4"


def all_counts(tx: Transaction, command: AllCounts) -> tuple[QueueCounts, ...]:
    names = tx.all("SELECT name FROM queues WHERE known = 1 ORDER BY number")
    return tuple(counts_of(tx, name) for (name,) in names)


def counts(tx: Transaction, command: Counts) -> QueueCounts:
    return counts_of(tx, command.queue)


def counts_of(tx: Transaction, queue: str) -> QueueCounts:
    """How many jobs of the queue are in each state."""
    waiting, running, stalled, scheduled, depends, throttled, recurring, paused = tx.named(_COUNTS, queue=queue, now=tx.now)
    return QueueCounts(queue, waiting, running, stalled, scheduled, depends, throttled, recurring, bool(paused))


def length(tx: Transaction, command: Length) -> int:
    found = counts_of(tx, command.queue)
    return found.running + found.stalled + found.waiting + found.scheduled


def list_jobs(tx: Transaction, command: ListJobs) -> tuple[str, ...]:
    return listed(tx, command.state, command.queue, command.count, command.offset)


def listed(tx: Transaction, listing: str, queue: str | None, count: int = -1, offset: int = 0) -> tuple[str, ...]:
    """The jids of a listing; with a count of -1 all of them."""
    return tuple(jid for (jid,) in tx.all(_LISTINGS[listing] + _PAGE, queue, tx.now, count, offset))


def pause(tx: Transaction, command: Pause) -> None:
    for queue in command.queues:
        sql = (
            "INSERT INTO queues (name, number, known, paused) VALUES (?, ?, 0, 1)"
            " ON CONFLICT (name) DO UPDATE SET paused = 1"
        )
        tx.run(sql, queue, tx.number())


def unpause(tx: Transaction, command: Unpause) -> None:
    tx.run(f"UPDATE queues SET paused = 0 WHERE {_NAMED}", texts(command.queues))
    tx.run(_DROP, texts(command.queues))
    for queue in command.queues:
        tx.wake(queue)


def forget_queues(tx: Transaction, command: ForgetQueues) -> None:
    tx.run(f"UPDATE queues SET known = 0 WHERE {_NAMED}", texts(command.queues))
    tx.run(_DROP, texts(command.queues))
    tx.memo.pop(KNOWN, None)
