"""When a queue may have something to pop: now, or when the next time comes that gives it something."""

from __future__ import annotations

from collections.abc import Sequence

from stanchion.engine.sqlite.handlers import throttles
from stanchion.engine.sqlite.handlers.configuration import settings
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.rules.config import queue_setting

_NEXT = """SELECT min(at) FROM (
    SELECT -1e300 AS at WHERE EXISTS (SELECT 1 FROM jobs WHERE queue = :queue AND state = 'waiting')
    UNION ALL SELECT min(expires) FROM jobs WHERE queue = :queue AND state IN ('running', 'stalled')
    UNION ALL SELECT min(due) FROM jobs WHERE queue = :queue AND state = 'scheduled'
    UNION ALL SELECT min(next_due) FROM recurring WHERE queue = :queue
    UNION ALL SELECT min(expires) FROM throttles WHERE expires IS NOT NULL
        AND EXISTS (SELECT 1 FROM jobs WHERE queue = :queue AND state = 'throttled'))"""
_FULL = "SELECT count(*) FROM jobs WHERE queue = ? AND state = 'running' AND expires > ?"
_LAPSE = "SELECT min(expires) FROM jobs WHERE queue = ? AND state = 'running'"


def seconds_until_work(tx: Transaction, queues: Sequence[str]) -> float:
    """How long until one of the queues may give a job, 0 or less if one may now; infinite if nothing but a commit helps."""
    if tx.value("SELECT 1 FROM releases LIMIT 1"):
        return float("-inf")  # dependents are still to be told: any pop goes on with that
    return min((_next_of(tx, queue) for queue in queues), default=float("inf")) - tx.now


def _next_of(tx: Transaction, queue: str) -> float:
    if tx.value("SELECT paused FROM queues WHERE name = ?", queue):
        return float("inf")
    limit = int(queue_setting(settings(tx), queue, "max-concurrency"))
    full = 0 < limit <= tx.value(_FULL, queue, tx.now)
    if not full and throttles.may_come(tx, queue):
        return float("-inf")
    at = tx.value(_LAPSE, queue) if full else tx.named(_NEXT, queue=queue)[0]
    return float("inf") if at is None else float(at)
