"""Housekeeping inside the commands: each piece is bounded, and what is left goes with the next command."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stanchion.engine.sqlite.handlers import dependents, throttles
from stanchion.engine.sqlite.handlers.configuration import settings
from stanchion.engine.sqlite.handlers.ending import remove_row
from stanchion.engine.sqlite.handlers.rows import SELECT, Row, rows
from stanchion.engine.sqlite.handlers.workers import oldest_seen
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.rules.config import setting
from stanchion.rules.days import oldest_kept

TOKEN_SECONDS = 86400.0
"""How long a request's answer is kept for those that ask again."""

STEP = 500
FORGOTTEN = 100
"""The most complete jobs that one completion forgets: more than it adds, so that any backlog melts."""

_KEPT = (
    "SELECT count, EXISTS (SELECT 1 FROM jobs WHERE state = 'complete' AND completed_at < ?) FROM tallies"
    " WHERE name = 'complete'"
)
_OLD_COMPLETE = SELECT + (
    "WHERE state = 'complete' AND completed_at < ? AND NOT EXISTS (SELECT 1 FROM dependencies WHERE on_job = jobs.id)"
    " ORDER BY completed_at, seq LIMIT ?"
)


def keep_up(tx: Transaction) -> None:
    """Do a step of whatever is due; a single look where nothing is."""
    config = settings(tx)
    oldest = {
        "released": 0.0,
        "limit": tx.now,
        "worker": oldest_seen(tx),
        "token": tx.now - TOKEN_SECONDS,
        "summary": oldest_kept(tx.now, int(setting(config, "stats-history"))),
        "histogram": oldest_kept(tx.now, int(setting(config, "histogram-history"))),
        "tracked": tx.now - setting(config, "jobs-history"),
    }
    due = tx.one(_LOOK, *oldest.values()) or ()
    for duty, is_due, before in zip(_DUTIES, due, oldest.values(), strict=True):
        if is_due:
            duty.step(tx, before)


def retain(tx: Transaction, completions: int) -> None:
    """After so many completions forget the complete jobs that are too old or too many, the oldest first."""
    config = settings(tx)
    oldest = tx.now - setting(config, "jobs-history")
    complete, old = tx.one(_KEPT, oldest) or (0, 0)
    excess = complete - max(0, int(setting(config, "jobs-history-count")))
    most = FORGOTTEN * completions
    if excess > 0:
        _forget(tx, rows(tx, _OLD_COMPLETE, float("inf"), min(excess, most)))
    if old:
        _forget(tx, rows(tx, _OLD_COMPLETE, oldest, most))


class _Duty(NamedTuple):
    """Something that may be due: how to see it, given the oldest that stays, and a step of it."""

    look: str
    step: Callable[[Transaction, float], object]


def _sweep(table: str, key: str, age: str) -> _Duty:
    delete = f"DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table} WHERE {age} < ? LIMIT {STEP})"
    return _Duty(f"SELECT 1 FROM {table} WHERE {age} < ?", lambda tx, before: tx.run(delete, before))


_LOST_TRACK = "tracked WHERE since < ? AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.jid = tracked.jid)"

_DUTIES = (
    _Duty("SELECT 1 FROM releases WHERE job > ?", lambda tx, before: dependents.go_on(tx)),
    _Duty("SELECT 1 FROM throttles WHERE expires <= ?", lambda tx, before: throttles.let_in_after_expiry(tx)),
    _sweep("workers", "name", "seen"),
    _sweep("tokens", "token", "at"),
    _sweep("stats", "day", "day"),
    _sweep("histograms", "day", "day"),
    _Duty(f"SELECT 1 FROM {_LOST_TRACK}", lambda tx, before: tx.run(f"DELETE FROM {_LOST_TRACK}", before)),
)

_LOOK = "SELECT " + ", ".join(f"EXISTS ({duty.look})" for duty in _DUTIES)


def _forget(tx: Transaction, found: list[Row]) -> None:
    for row in found:
        remove_row(tx, row)
