"""Statistics of each queue and UTC day: how long jobs waited and ran, how many were retried and failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from stanchion.commands import Stats
from stanchion.engine.sqlite.handlers.configuration import settings
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.records import QueueStats, Timing
from stanchion.rules.config import setting
from stanchion.rules.days import day_of, oldest_kept
from stanchion.rules.histogram import BUCKETS, bucket
from stanchion.rules.moments import Moments

_Kind = Literal["wait", "run"]

_READ = {
    kind: f"SELECT {kind}_count, {kind}_mean, {kind}_m2 FROM stats WHERE queue = ? AND day = ?" for kind in ("wait", "run")
}
_WRITE = {
    kind: f"INSERT INTO stats (queue, day, {kind}_count, {kind}_mean, {kind}_m2) VALUES (?, ?, ?, ?, ?)"
    f" ON CONFLICT (queue, day) DO UPDATE SET {kind}_count = excluded.{kind}_count,"
    f" {kind}_mean = excluded.{kind}_mean, {kind}_m2 = excluded.{kind}_m2"
    for kind in ("wait", "run")
}
_BUCKET = (
    "INSERT INTO histograms VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (queue, day, kind, bucket) DO UPDATE SET count = count + excluded.count"
)


def record(tx: Transaction, kind: _Kind, queue: str, durations: Sequence[float]) -> None:
    """Count durations, in seconds, among today's of the queue."""
    day = day_of(tx.now)
    moments = Moments(*(tx.one(_READ[kind], queue, day) or ()))
    for seconds in durations:
        moments = moments.add(seconds)
    tx.run(_WRITE[kind], queue, day, *moments)
    for index, count in Counter(map(bucket, durations)).items():
        tx.run(_BUCKET, queue, day, kind, index, count)


def count_retries(tx: Transaction, queue: str, retries: int) -> None:
    """Count locks that lapsed today."""
    _count(tx, queue, day_of(tx.now), retries=retries)


def count_failure(tx: Transaction, queue: str) -> None:
    """Count a job that failed today, and is failed."""
    _count(tx, queue, day_of(tx.now), failures=1, failed=1)


def uncount_failed(tx: Transaction, queue: str, failed_at: float) -> None:
    """A job that failed then, in that queue, is failed no longer."""
    tx.run("UPDATE stats SET failed = max(0, failed - 1) WHERE queue = ? AND day = ?", queue, day_of(failed_at))


def stats(tx: Transaction, command: Stats) -> QueueStats:
    return stats_of(tx, command.queue, day_of(tx.now if command.date is None else command.date))


def stats_of(tx: Transaction, queue: str, day: int) -> QueueStats:
    """A queue's day; zeros where there is nothing."""
    row = tx.one("SELECT * FROM stats WHERE queue = ? AND day = ?", queue, day)
    if row is None:
        return QueueStats()
    config = settings(tx)
    if day < oldest_kept(tx.now, int(setting(config, "stats-history"))):
        return QueueStats()  # it only waits for its sweep
    drawn = day >= oldest_kept(tx.now, int(setting(config, "histogram-history")))
    return QueueStats(
        wait=_timing(tx, queue, day, "wait", Moments(*row[2:5]), drawn),
        run=_timing(tx, queue, day, "run", Moments(*row[5:8]), drawn),
        retries=row[8],
        failures=row[9],
        failed=row[10],
    )


def _timing(tx: Transaction, queue: str, day: int, kind: _Kind, moments: Moments, drawn: bool) -> Timing:
    histogram = [0] * BUCKETS
    sql = "SELECT bucket, count FROM histograms WHERE queue = ? AND day = ? AND kind = ? AND ?"
    for index, count in tx.all(sql, queue, day, kind, drawn):
        histogram[index] = count
    return Timing(moments.n, moments.mean, moments.std, tuple(histogram))


def _count(tx: Transaction, queue: str, day: int, retries: int = 0, failures: int = 0, failed: int = 0) -> None:
    tx.run(
        "INSERT INTO stats (queue, day, retries, failures, failed) VALUES (?, ?, ?, ?, ?) ON CONFLICT (queue, day) DO UPDATE"
        " SET retries = retries + excluded.retries, failures = failures + excluded.failures, failed = failed + excluded.failed",
        queue,
        day,
        retries,
        failures,
        failed,
    )
