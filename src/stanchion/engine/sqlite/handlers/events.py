"""What is published, and to whom: ``log`` for all, ``w:<worker>`` for one worker, bare jids for tracked jobs."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.engine.sqlite.handlers.rows import Row
from stanchion.engine.sqlite.transaction import Transaction


def log(tx: Transaction, event: str, /, **more: Any) -> None:
    """Publish an event to all."""
    if tx.listened:
        tx.emit("log", _json(event, more))


def tell_worker(tx: Transaction, worker: str, event: str, /, **more: Any) -> None:
    """Publish an event to a worker, if the job has one."""
    if tx.listened and worker:
        tx.emit(f"w:{worker}", _json(event, more))


def tell_trackers(tx: Transaction, row: Row, channel: str) -> None:
    """Publish the jid of a tracked job."""
    if tx.listened and row.tracked:
        tx.emit(channel, row.jid)


def lock_lost(tx: Transaction, row: Row) -> None:
    """Tell a worker, and all, that it lost the job's lock."""
    tell_worker(tx, row.worker, "lock_lost", jid=row.jid, worker=row.worker)
    log(tx, "lock_lost", jid=row.jid, worker=row.worker)


def _json(event: str, more: dict[str, Any]) -> str:
    return msgspec.json.encode({"event": event, **more}).decode()
