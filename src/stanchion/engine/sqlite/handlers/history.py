"""A job's history: what happened to it, as entries of JSON text that are only ever appended."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from stanchion.engine.sqlite.handlers.configuration import settings
from stanchion.engine.sqlite.handlers.rows import Row, readable
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.rules.config import setting
from stanchion.rules.retention import history_excess

_encoder = msgspec.json.Encoder()
_entries = msgspec.json.Decoder(list[msgspec.Raw])


class Written(NamedTuple):
    """A history as its two columns."""

    text: str
    entries: int


def entry(what: str, when: float, **more: Any) -> str:
    """One entry as text: what happened, when, and more."""
    return _encoder.encode((what, when, more)).decode()


def appended(tx: Transaction, row: Row, *entries: str) -> Written:
    """The row's history with entries added, and the oldest behind the first dropped beyond ``max-job-history``.

    One that cannot be read only grows: whoever pops the job puts it aside.
    """
    text = ",".join((row.history, *entries) if row.history else entries)
    count = row.history_count + len(entries)
    excess = history_excess(count, int(setting(settings(tx), "max-job-history")))
    return readable(lambda text: _trimmed(text, excess), text, Written(text, count)) if excess else Written(text, count)


def append(tx: Transaction, row: Row, *entries: str) -> None:
    """Add entries to the history of a job, and nothing else."""
    text, count = appended(tx, row, *entries)
    tx.run("UPDATE jobs SET history = ?, history_count = ? WHERE id = ?", text, count, row.id)


def _trimmed(text: str, excess: int) -> Written:
    entries = _entries.decode(f"[{text}]")
    kept = [bytes(one).decode() for one in (entries[0], *entries[1 + excess :])]
    return Written(",".join(kept), len(kept))
