"""workers, worker, worker.deregister."""

from __future__ import annotations

from stanchion.commands import AllWorkers, Deregister, JobsOfWorker
from stanchion.engine.sqlite.handlers.configuration import settings
from stanchion.engine.sqlite.handlers.rows import texts
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.records import WorkerCounts, WorkerJobs
from stanchion.rules.config import setting

# The jobs that workers hold, by the index of locks: they are few, and no job pays for an index of workers.
HELD = "FROM jobs INDEXED BY jobs_locks WHERE state IN ('running', 'stalled') AND worker <> ''"

_SEE = "INSERT INTO workers VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seen = excluded.seen"


def see(tx: Transaction, worker: str) -> None:
    """The worker shows that it lives."""
    tx.run(_SEE, worker, tx.now)


def oldest_seen(tx: Transaction) -> float:
    """Who was last seen before this is dropped."""
    return tx.now - setting(settings(tx), "max-worker-age")


def all_workers(tx: Transaction, command: AllWorkers) -> tuple[WorkerCounts, ...]:
    sql = f"SELECT worker, sum(expires > ?), sum(expires <= ?) {HELD} GROUP BY worker"
    held = {worker: (running, lapsed) for worker, running, lapsed in tx.all(sql, tx.now, tx.now)}
    sql = "SELECT name, seen FROM workers WHERE seen >= ? ORDER BY seen DESC, name"
    found = tx.all(sql, oldest_seen(tx))
    return tuple(WorkerCounts(name, *held.get(name, (0, 0)), seen) for name, seen in found)


def jobs_of_worker(tx: Transaction, command: JobsOfWorker) -> WorkerJobs:
    sql = f"SELECT jid, expires {HELD} AND worker = ? ORDER BY expires DESC, seq DESC"
    found = tx.all(sql, command.worker)
    return WorkerJobs(
        tuple(jid for jid, expires in found if expires > tx.now),
        tuple(jid for jid, expires in found if expires <= tx.now),
    )


def deregister(tx: Transaction, command: Deregister) -> int:
    sql = "DELETE FROM workers WHERE name IN (SELECT value FROM json_each(?)) RETURNING seen"
    oldest = oldest_seen(tx)
    return sum(seen >= oldest for (seen,) in tx.all(sql, texts(command.workers)))
