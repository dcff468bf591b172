"""track, untrack, tracked."""

from __future__ import annotations

from stanchion.commands import Track, Tracked, Untrack
from stanchion.engine.sqlite.handlers.rows import find_all_whole, job_of, require
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.records import TrackedJobs


def track(tx: Transaction, command: Track) -> bool:
    require(tx, command.jid)
    added = tx.run("INSERT OR IGNORE INTO tracked VALUES (?, ?, ?)", command.jid, tx.now, tx.number())
    tx.emit("track", command.jid)
    return added > 0


def untrack(tx: Transaction, command: Untrack) -> bool:
    removed = tx.run("DELETE FROM tracked WHERE jid = ?", command.jid)
    tx.emit("untrack", command.jid)
    return removed > 0


def tracked(tx: Transaction, command: Tracked) -> TrackedJobs:
    jids = tracked_jids(tx)
    found = find_all_whole(tx, jids)
    return TrackedJobs(
        tuple(job_of(found[jid], tx.now) for jid in jids if jid in found),
        tuple(jid for jid in jids if jid not in found),
    )


def tracked_jids(tx: Transaction) -> tuple[str, ...]:
    """Every jid that is tracked, longest first."""
    return tuple(jid for (jid,) in tx.all("SELECT jid FROM tracked ORDER BY number"))
