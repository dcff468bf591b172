"""What comes due: scheduled jobs come in line, recurring jobs spawn."""

from __future__ import annotations

from stanchion.engine.sqlite.handlers.spawning import spawn_due
from stanchion.engine.sqlite.transaction import Transaction

STEP = 1000
"""The most scheduled jobs that one command brings in line, besides the best that it asks for."""

_DUE = """SELECT EXISTS (SELECT 1 FROM recurring WHERE queue = :queue AND next_due <= :now),
    EXISTS (SELECT 1 FROM jobs WHERE queue = :queue AND state = 'scheduled' AND due <= :now)"""
_IS_DUE = "queue = ?1 AND state = 'scheduled' AND due <= ?2"
_COME_DUE = f"""UPDATE jobs SET state = 'waiting', ready_at = due, due = 0
    WHERE id IN (SELECT id FROM jobs WHERE {_IS_DUE} ORDER BY """
_OLDEST = _COME_DUE + "due, seq LIMIT ?3)"
_BEST = _COME_DUE + "priority DESC, due, seq LIMIT ?3)"


def bring_in_line(tx: Transaction, queue: str, wanted: int) -> None:
    """Bring what is due in line: enough of it that the best of all that is due are the first of the line."""
    recurring, scheduled = tx.named(_DUE, queue=queue, now=tx.now)
    if recurring:
        spawn_due(tx, queue, wanted)
    if scheduled and tx.run(_OLDEST, queue, tx.now, STEP) == STEP:
        # There may be more. However many there are, only those that can be popped now must be among the moved.
        tx.run(_BEST, queue, tx.now, wanted)
