"""Making a broken record readable again: what cannot be read of it is emptied, and what is derived follows."""

from __future__ import annotations

from stanchion.engine.sqlite.handlers import rows, tags, throttles
from stanchion.engine.sqlite.handlers.rows import Row
from stanchion.engine.sqlite.transaction import Transaction


def make_readable(tx: Transaction, row: Row) -> Row:
    """Empty the columns of a job that cannot be read; the row as it is then."""
    own_tags: tuple[str, ...] = rows.names(row.tags)
    own_throttles: tuple[str, ...] = rows.names(row.throttles)
    entries = rows.readable(rows.history, row, None)
    tx.run(
        "UPDATE jobs SET tags = ?, throttles = ?, failure = ?, history = ?, history_count = ? WHERE id = ?",
        rows.texts(own_tags),
        rows.texts(own_throttles),
        row.failure if rows.readable(rows.failure, row, None) else None,
        row.history if entries is not None else "",
        len(entries or ()),
        row.id,
    )
    if rows.texts(own_tags) != row.tags:
        tags.retag(tx, row.id, own_tags)
    if rows.texts(own_throttles) != row.throttles:
        throttles.join(tx, row.id, own_throttles)
    return rows.reread(tx, row.id)
