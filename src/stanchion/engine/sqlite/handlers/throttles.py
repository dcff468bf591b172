"""Throttles: their limits, the places that running jobs hold, and those that wait for one."""

from __future__ import annotations

import math
from collections.abc import Iterable

from stanchion.commands import (
    AllThrottles,
    DeleteThrottle,
    GetThrottle,
    ReleaseThrottle,
    SetThrottle,
    ThrottleLocks,
    ThrottlePending,
)
from stanchion.engine.sqlite.handlers.rows import Row, names, texts
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.records import Throttle

STEP = 1000
"""The most jobs that one command looks at to let them in line: the others come with the pops to follow."""

EXPIRED_STEP = 100

_LIMIT = "SELECT maximum FROM throttles WHERE id = ? AND (expires IS NULL OR expires > ?)"
_HELD = "SELECT count(*) FROM throttle_jobs WHERE throttle = ? AND held_since IS NOT NULL"
_PENDING = (
    "FROM throttle_jobs JOIN jobs ON jobs.id = throttle_jobs.job WHERE throttle_jobs.throttle = ?"
    " AND jobs.state = 'throttled' ORDER BY jobs.priority DESC, jobs.ready_at, jobs.seq"
)
_PENDING_HERE = (
    "SELECT id, queue, throttles FROM jobs WHERE queue = ? AND state = 'throttled'"
    " ORDER BY priority DESC, ready_at, seq LIMIT ?"
)
_EXPIRED = "SELECT id FROM throttles WHERE expires <= ? LIMIT ?"


def has_room(tx: Transaction, throttles: Iterable[str]) -> bool:
    """Has every one of the throttles a place?"""
    return all(_room(tx, throttle) > 0 for throttle in throttles)


def join(tx: Transaction, job: int, throttles: Iterable[str]) -> None:
    """Note which throttles a job counts for, instead of those noted before."""
    tx.run("DELETE FROM throttle_jobs WHERE job = ?", job)
    tx.run_many("INSERT INTO throttle_jobs (throttle, job) VALUES (?, ?)", [(throttle, job) for throttle in throttles])


def take_places(tx: Transaction, job: int) -> None:
    """Let a job that starts to run take a place in each of its throttles."""
    tx.run("UPDATE throttle_jobs SET held_since = ? WHERE job = ?", tx.now, job)


def give_back(tx: Transaction, row: Row) -> None:
    """Free the places of a job that no longer runs, and let the next ones come in line."""
    for throttle in names(row.throttles):
        if tx.run(_GIVE_BACK, throttle, row.id):
            let_in(tx, throttle)


def leave(tx: Transaction, row: Row) -> None:
    """The job no longer counts for any throttle."""
    if row.throttles != "[]":
        give_back(tx, row)
        tx.run("DELETE FROM throttle_jobs WHERE job = ?", row.id)


def let_in(tx: Transaction, throttle: str) -> None:
    """Let those that wait for the throttle come in line, the best first, as far as it and their others have room."""
    if _room(tx, throttle) > 0:
        _let_in(tx, f"SELECT jobs.id, jobs.queue, jobs.throttles {_PENDING} LIMIT ?", throttle)


def let_in_queue(tx: Transaction, queue: str) -> None:
    """Let those of a queue come in line that there is room for.

    ``let_in`` may have given the room to a job that then did not use it: one that was canceled, or whose queue is paused. So
    each pop looks again, and nobody is held back while there is a place.
    """
    _let_in(tx, _PENDING_HERE, queue)


def may_come(tx: Transaction, queue: str) -> bool:
    """Would ``let_in_queue`` let anybody in?"""
    return bool(_with_room(tx, tx.all(_PENDING_HERE, queue, STEP)))


def let_in_after_expiry(tx: Transaction) -> None:
    """Remove the limits whose time is over."""
    for (throttle,) in tx.all(_EXPIRED, tx.now, EXPIRED_STEP):
        tx.run("DELETE FROM throttles WHERE id = ?", throttle)
        let_in(tx, throttle)


_GIVE_BACK = "UPDATE throttle_jobs SET held_since = NULL WHERE throttle = ? AND job = ? AND held_since IS NOT NULL"


def set_throttle(tx: Transaction, command: SetThrottle) -> None:
    tx.run(
        "INSERT INTO throttles VALUES (?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET maximum = excluded.maximum, expires = excluded.expires",
        command.id,
        command.maximum,
        tx.now + command.expiration if command.expiration else None,
    )
    let_in(tx, command.id)


def get_throttle(tx: Transaction, command: GetThrottle) -> Throttle:
    row = tx.one("SELECT id, maximum, expires FROM throttles WHERE id = ?", command.id)
    return Throttle(command.id) if row is None else throttle_of(row, tx.now)


def all_throttles(tx: Transaction, command: AllThrottles) -> tuple[Throttle, ...]:
    sql = "SELECT id, maximum, expires FROM throttles WHERE expires IS NULL OR expires > ? ORDER BY id"
    return tuple(throttle_of(row, tx.now) for row in tx.all(sql, tx.now))


def delete_throttle(tx: Transaction, command: DeleteThrottle) -> None:
    tx.run("DELETE FROM throttles WHERE id = ?", command.id)
    let_in(tx, command.id)


def throttle_locks(tx: Transaction, command: ThrottleLocks) -> tuple[str, ...]:
    return locks_of(tx, command.id)


def throttle_pending(tx: Transaction, command: ThrottlePending) -> tuple[str, ...]:
    return pending_of(tx, command.id)


def release_throttle(tx: Transaction, command: ReleaseThrottle) -> None:
    tx.run(
        "UPDATE throttle_jobs SET held_since = NULL WHERE throttle = ? AND held_since IS NOT NULL"
        " AND job IN (SELECT id FROM jobs WHERE jid IN (SELECT value FROM json_each(?)))",
        command.id,
        texts(command.jids),
    )
    let_in(tx, command.id)


def throttle_of(row: tuple[str, int, float | None], now: float) -> Throttle:
    """The record of a limit; one whose time is over is none."""
    throttle, maximum, expires = row
    if expires is None:
        return Throttle(throttle, maximum)
    return Throttle(throttle, maximum, expires - now) if expires > now else Throttle(throttle)


def locks_of(tx: Transaction, throttle: str) -> tuple[str, ...]:
    """The jids that hold a place, longest first."""
    sql = (
        "SELECT jobs.jid FROM throttle_jobs JOIN jobs ON jobs.id = throttle_jobs.job"
        " WHERE throttle_jobs.throttle = ? AND held_since IS NOT NULL ORDER BY held_since, jobs.seq"
    )
    return tuple(jid for (jid,) in tx.all(sql, throttle))


def pending_of(tx: Transaction, throttle: str) -> tuple[str, ...]:
    """The jids that wait for a place, in the order in which they will get it."""
    return tuple(jid for (jid,) in tx.all(f"SELECT jobs.jid {_PENDING}", throttle))


def _let_in(tx: Transaction, pending: str, where: str) -> None:
    for job, queue in _with_room(tx, tx.all(pending, where, STEP)):
        tx.run("UPDATE jobs SET state = 'waiting' WHERE id = ?", job)
        tx.wake(queue)


def _with_room(tx: Transaction, pending: Iterable[tuple[int, str, str]]) -> list[tuple[int, str]]:
    """Of the pending jobs, best first, those that could start now, one beside the other, with their queues."""
    rooms: dict[str, float] = {}
    found = []
    for job, queue, text in pending:
        wanted = names(text)
        rooms.update({throttle: _room(tx, throttle) for throttle in wanted if throttle not in rooms})
        if all(rooms[throttle] > 0 for throttle in wanted):
            rooms.update({throttle: rooms[throttle] - 1 for throttle in wanted})
            found.append((job, queue))
    return found


def _room(tx: Transaction, throttle: str) -> float:
    """How many places are free, below 0 if the limit was lowered since; infinite where there is no limit."""
    maximum = tx.value(_LIMIT, throttle, tx.now)
    return maximum - tx.value(_HELD, throttle) if maximum else math.inf
