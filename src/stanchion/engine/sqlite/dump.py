"""The whole state of a database, as every engine shows it."""

from __future__ import annotations

from collections import defaultdict

from stanchion.commands import AllConfig
from stanchion.engine.contract import QueueState, StateDump, ThrottleState, WorkerState
from stanchion.engine.sqlite.handlers import (
    failures,
    queues,
    recurring,
    statistics,
    throttles,
    tracking,
    workers,
)
from stanchion.engine.sqlite.handlers.configuration import all_config
from stanchion.engine.sqlite.handlers.rows import SELECT_WHOLE, job_of, wholes
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.records import QueueStats


def dump(tx: Transaction) -> StateDump:
    """Everything, as of the transaction's time."""
    return StateDump(
        now=tx.now,
        jobs={job.row.jid: job_of(job, tx.now) for job in wholes(tx, SELECT_WHOLE + "ORDER BY jobs.seq")},
        recurring={
            row[0]: recurring.record_of(recurring.Template._make(row))
            for row in tx.all("SELECT * FROM recurring ORDER BY jid")
        },
        queues={name: _queue(tx, name, bool(known), bool(paused)) for name, known, paused in _queues(tx)},
        workers=_workers(tx),
        complete=queues.listed(tx, "complete", None),
        failures={
            group: failures.failed_of(tx, group, 0, -1)
            for (group,) in tx.all("SELECT DISTINCT failure_group FROM jobs WHERE state = 'failed' ORDER BY 1")
        },
        tags=_tags(tx),
        tracked=tracking.tracked_jids(tx),
        throttles=_throttles(tx),
        stats=_stats(tx),
        config=dict(all_config(tx, AllConfig())),
    )


def _queues(tx: Transaction) -> list[tuple[str, int, int]]:
    sql = (
        "SELECT name, known, paused FROM queues UNION ALL SELECT DISTINCT queue, 0, 0 FROM jobs"
        " WHERE queue <> '' AND queue NOT IN (SELECT name FROM queues)"
        " UNION ALL SELECT DISTINCT queue, 0, 0 FROM recurring WHERE queue NOT IN (SELECT name FROM queues)"
        " AND queue NOT IN (SELECT queue FROM jobs)"
    )
    return tx.all(sql)


def _queue(tx: Transaction, name: str, known: bool, paused: bool) -> QueueState:
    return QueueState(
        known=known,
        paused=paused,
        waiting=queues.listed(tx, "waiting", name),
        running=_times(
            tx,
            "SELECT jid, expires FROM jobs WHERE queue = ? AND state = 'running' ORDER BY expires, seq",
            name,
        ),
        stalled=tuple(
            jid for (jid,) in tx.all("SELECT jid FROM jobs WHERE queue = ? AND state = 'stalled' ORDER BY seq", name)
        ),
        scheduled=_times(
            tx,
            "SELECT jid, due FROM jobs WHERE queue = ? AND state = 'scheduled' AND due > ? ORDER BY due, seq",
            name,
            tx.now,
        ),
        depends=queues.listed(tx, "depends", name),
        throttled=queues.listed(tx, "throttled", name),
        recurring=_times(tx, "SELECT jid, next_due FROM recurring WHERE queue = ? ORDER BY next_due, jid", name),
    )


def _times(tx: Transaction, sql: str, *args: object) -> dict[str, float]:
    return dict(tx.all(sql, *args))


def _workers(tx: Transaction) -> dict[str, WorkerState]:
    found = {}
    for name, seen in tx.all("SELECT name, seen FROM workers WHERE seen >= ? ORDER BY name", workers.oldest_seen(tx)):
        jids = tx.all(f"SELECT jid {workers.HELD} AND worker = ? ORDER BY jid", name)
        found[name] = WorkerState(seen, tuple(jid for (jid,) in jids))
    return found


def _tags(tx: Transaction) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for tag, jid in tx.all("SELECT tag, jid FROM tags JOIN jobs ON jobs.id = tags.job ORDER BY tag, number"):
        found[tag].append(jid)
    return {tag: tuple(jids) for tag, jids in found.items()}


def _throttles(tx: Transaction) -> dict[str, ThrottleState]:
    """The limits that are set, and the throttles that jobs hold or wait for."""
    limits = {row[0]: throttles.throttle_of(row, tx.now) for row in tx.all("SELECT id, maximum, expires FROM throttles")}
    named = {name for (name,) in tx.all("SELECT DISTINCT throttle FROM throttle_jobs")}
    found = {}
    for name in sorted({*limits, *named}):
        limit = limits.get(name, throttles.throttle_of((name, 0, None), tx.now))
        state = ThrottleState(limit, throttles.locks_of(tx, name), throttles.pending_of(tx, name))
        if state.throttle.maximum or state.locks or state.pending:
            found[name] = state
    return found


def _stats(tx: Transaction) -> dict[str, dict[int, QueueStats]]:
    found: dict[str, dict[int, QueueStats]] = defaultdict(dict)
    for queue, day in tx.all("SELECT queue, day FROM stats ORDER BY queue, day"):
        day_stats = statistics.stats_of(tx, queue, day)
        if day_stats != QueueStats():
            found[queue][day] = day_stats
    return dict(found)
