"""Housekeeping inside the commands: each piece is bounded, and what is left goes with the next command."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from stanchion.engine.sqlite.handlers import dependents, throttles
from stanchion.engine.sqlite.handlers.configuration import settings
from stanchion.engine.sqlite.handlers.ending import forget
from stanchion.engine.sqlite.handlers.workers import oldest_seen
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.rules.config import setting
from stanchion.rules.days import oldest_kept

TOKEN_SECONDS = 86400.0
"""How long a request's answer is kept for those that ask again."""

STEP = 500
FORGOTTEN = 100
"""The most complete jobs that a pop forgets, and a completion: more than it adds, so that any backlog melts."""

_OLD_COMPLETE = "state = 'complete' AND completed_at < ?"
_FORGETTABLE = (
    f"SELECT id FROM jobs WHERE {_OLD_COMPLETE} AND NOT EXISTS (SELECT 1 FROM dependencies WHERE on_job = jobs.id)"
    " ORDER BY completed_at, seq LIMIT ?"
)


def keep_up(tx: Transaction, completions: int = 1) -> None:
    """Do a step of whatever is due, after so many completions; a single look where nothing is."""
    config = settings(tx)
    oldest_complete = tx.now - setting(config, "jobs-history")
    oldest = {
        "released": 0.0,
        "limit": tx.now,
        "worker": oldest_seen(tx),
        "token": tx.now - TOKEN_SECONDS,
        "summary": oldest_kept(tx.now, int(setting(config, "stats-history"))),
        "histogram": oldest_kept(tx.now, int(setting(config, "histogram-history"))),
        "tracked": oldest_complete,
    }
    *due, complete, old = tx.all(_LOOK, *oldest.values(), oldest_complete)[0]
    for duty, is_due, before in zip(_DUTIES, due, oldest.values(), strict=True):
        if is_due:
            duty.step(tx, before)
    most = FORGOTTEN * max(1, completions)
    _forget(tx, math.inf, min(most, complete - max(0, int(setting(config, "jobs-history-count")))))
    _forget(tx, oldest_complete, most if old else 0)


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

_LOOK = "SELECT " + ", ".join(
    (
        *(f"EXISTS ({duty.look})" for duty in _DUTIES),
        "coalesce((SELECT count FROM tallies WHERE name = 'complete'), 0)",
        f"EXISTS (SELECT 1 FROM jobs WHERE {_OLD_COMPLETE})",
    )
)


def _forget(tx: Transaction, before: float, most: int) -> None:
    """Forget complete jobs that completed before a time, the oldest first."""
    if most > 0:
        forget(tx, [job for (job,) in tx.all(_FORGETTABLE, before, most)])
