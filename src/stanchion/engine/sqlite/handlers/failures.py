"""failures, failed."""

from __future__ import annotations

from stanchion.commands import Failed, FailureGroups
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.records import JobPage


def failure_groups(tx: Transaction, command: FailureGroups) -> dict[str, int]:
    sql = "SELECT failure_group, count(*) FROM jobs WHERE state = 'failed' GROUP BY failure_group ORDER BY failure_group"
    return dict(tx.all(sql))


def failed(tx: Transaction, command: Failed) -> JobPage:
    total = tx.value("SELECT count(*) FROM jobs WHERE state = 'failed' AND failure_group = ?", command.group)
    return JobPage(total, failed_of(tx, command.group, command.start, command.limit))


def failed_of(tx: Transaction, group: str, start: int, limit: int) -> tuple[str, ...]:
    """The failed jobs of a group, newest first."""
    sql = (
        "SELECT jid FROM jobs WHERE state = 'failed' AND failure_group = ?"
        " ORDER BY failed_at DESC, seq DESC LIMIT ? OFFSET ?"
    )
    return tuple(jid for (jid,) in tx.all(sql, group, limit, start))
