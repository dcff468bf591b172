"""How a job gets into a queue's line, and how it leaves wherever it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stanchion.engine.sqlite.handlers import events, throttles
from stanchion.engine.sqlite.handlers.rows import Row
from stanchion.engine.sqlite.handlers.statistics import uncount_failed
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.states import State

KNOWN = "known"
"""What a transaction's memo calls the queues that are known for sure."""

_KNOW = (
    "INSERT INTO queues (name, number) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET known = 1, number = excluded.number"
)


class Place(NamedTuple):
    """Where in a queue a job stands: its state, since when it could be popped, and when it is due if it is not yet."""

    state: State
    ready_at: float
    due: float = 0.0


def place(tx: Transaction, due: float, depends: bool, throttle_ids: Iterable[str], now: float) -> Place:
    """Where a job gets to that is due then (0: at once) and waits for other jobs or not."""
    if depends:
        return Place(State.DEPENDS, now, due if due > now else 0.0)
    if due > now:
        return Place(State.SCHEDULED, due, due)
    return Place(State.WAITING if throttles.has_room(tx, throttle_ids) else State.THROTTLED, now)


def stand(tx: Transaction, row: Row, where: Place) -> None:
    """Put a job that is in its queue, but not running, to another place of the line."""
    tx.run(
        "UPDATE jobs SET state = ?, ready_at = ?, due = ? WHERE id = ?",
        where.state,
        where.ready_at,
        where.due,
        row.id,
    )
    announce(tx, row.queue, where)


def announce(tx: Transaction, queue: str, where: Place) -> None:
    """Wake sleepers if the place gives them work, now or at its time."""
    if where.state in (State.WAITING, State.SCHEDULED):
        tx.wake(queue)


def know_queue(tx: Transaction, queue: str) -> None:
    """The queue is a known one from now on."""
    known: set[str] = tx.memo.setdefault(KNOWN, set())
    if queue not in known:
        known.add(queue)
        if tx.value("SELECT known FROM queues WHERE name = ?", queue) != 1:
            tx.run(_KNOW, queue, tx.number())


def leave(tx: Transaction, row: Row) -> None:
    """The job leaves its state: what that state kept elsewhere goes. The caller gives it a new state, or removes it."""
    if row.state == State.FAILED and row.failed_at is not None:
        uncount_failed(tx, row.queue, row.failed_at)
    throttles.step_back(tx, row)


def tell_robbed(tx: Transaction, row: Row, mover: str) -> None:
    """Tell the worker that held the job, if it is another than who moves it now."""
    if row.state == State.RUNNING and row.worker != mover:
        events.lock_lost(tx, row)
