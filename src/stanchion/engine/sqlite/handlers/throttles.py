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

_WAITING = 2  # what throttle_jobs.line says of a waiting job

_LIMIT = "SELECT maximum FROM throttles WHERE id = ? AND (expires IS NULL OR expires > ?)"
_HELD = "SELECT count(*) FROM throttle_jobs WHERE throttle = ? AND held_since IS NOT NULL"
_PENDING = (
    "FROM throttle_jobs JOIN jobs ON jobs.id = throttle_jobs.job WHERE throttle = ? AND line = 1"
    " ORDER BY jobs.priority DESC, jobs.ready_at, jobs.seq"
)
# From one queue, or set of throttles, to the next in an index, however many jobs wait in each.
_QUEUES = """WITH RECURSIVE queues(queue) AS (
    SELECT min(queue) FROM throttle_jobs WHERE throttle = ?1 AND line = 1
    UNION ALL SELECT (SELECT min(queue) FROM throttle_jobs WHERE throttle = ?1 AND line = 1 AND queue > queues.queue)
    FROM queues WHERE queue IS NOT NULL)
    SELECT queue FROM queues WHERE queue IS NOT NULL LIMIT ?2"""
_SETS = """WITH RECURSIVE sets(throttles) AS (
    SELECT min(throttles) FROM jobs WHERE queue = ?1 AND state = 'throttled'
    UNION ALL SELECT (SELECT min(throttles) FROM jobs WHERE queue = ?1 AND state = 'throttled' AND throttles > sets.throttles)
    FROM sets WHERE throttles IS NOT NULL)
    SELECT throttles FROM sets WHERE throttles IS NOT NULL LIMIT ?2"""
_LINE = (
    "SELECT job, line, throttles FROM throttle_jobs JOIN jobs ON jobs.id = job WHERE throttle = ? AND throttle_jobs.queue = ?"
    " AND line > 0 ORDER BY throttle_jobs.priority DESC, throttle_jobs.ready_at, throttle_jobs.seq LIMIT ?"
)
_PENDING_HERE = (
    "SELECT id, throttles FROM jobs WHERE queue = ? AND state = 'throttled'"
    " AND throttles IN (SELECT value FROM json_each(?)) ORDER BY priority DESC, ready_at, seq LIMIT ?"
)
_JOIN = (
    "INSERT INTO throttle_jobs SELECT ?, id, NULL, CASE state WHEN 'throttled' THEN 1 WHEN 'waiting' THEN 2 ELSE 0 END,"
    " queue, priority, ready_at, seq FROM jobs WHERE id = ?"
)
_TAKE_PLACES = "UPDATE throttle_jobs SET held_since = ?, line = 0 WHERE job = ?"
_STEP_BACK = "UPDATE throttle_jobs SET held_since = NULL, line = 0 WHERE job = ? AND (held_since IS NOT NULL OR line = 2)"
_EXPIRED = "SELECT id FROM throttles WHERE expires <= ? LIMIT ?"


def has_room(tx: Transaction, throttles: Iterable[str]) -> bool:
    """Has every one of the throttles a place?"""
    return all(_room(tx, throttle) > 0 for throttle in throttles)


def join(tx: Transaction, job: int, throttles: Iterable[str]) -> None:
    """Note which throttles a job counts for, instead of those noted before."""
    tx.run("DELETE FROM throttle_jobs WHERE job = ?", job)
    tx.run_many(_JOIN, [(throttle, job) for throttle in throttles])


def take_places(tx: Transaction, job: int) -> None:
    """Let a job that starts to run take a place in each of its throttles."""
    tx.run(_TAKE_PLACES, tx.now, job)


def step_back(tx: Transaction, row: Row) -> None:
    """Free the places of a job that no longer runs or waits in line, and let others come in line instead."""
    if row.throttles != "[]" and tx.run(_STEP_BACK, row.id):
        let_all_in(tx, names(row.throttles))


def leave(tx: Transaction, row: Row) -> None:
    """The job no longer counts for any throttle."""
    if row.throttles != "[]":
        tx.run("DELETE FROM throttle_jobs WHERE job = ?", row.id)


def hold_back(tx: Transaction, row: Row) -> None:
    """Take a job, for which one of its throttles has no place, out of the line: others may have the places of the rest."""
    tx.run("UPDATE jobs SET state = 'throttled' WHERE id = ?", row.id)
    let_all_in(tx, names(row.throttles))


def let_all_in(tx: Transaction, throttles: Iterable[str]) -> None:
    """Let those that wait for any of the throttles come in line, as far as there is room."""
    for throttle in throttles:
        let_in(tx, throttle)


def let_in(tx: Transaction, throttle: str) -> None:
    """Let those that wait for the throttle come in line, as far as there is room.

    In each queue, since nobody knows which is popped next: the best come in, as many as have room beside those in line that
    are better still.
    """
    room = _room(tx, throttle)
    if room > 0:
        for (queue,) in tx.all(_QUEUES, throttle, STEP):
            _let_in(tx, throttle, queue, room)


def let_in_queue(tx: Transaction, queue: str) -> bool:
    """Let all those of a queue come in line that have room; True if there are any.

    For pops that find the line empty: so nobody is held back while there is a place, whatever the room was given to before.
    """
    rooms = _Rooms(tx)
    sets = _sets_with_room(tx, queue, rooms)
    found = [job for job, wanted in tx.all(_PENDING_HERE, queue, texts(sets), STEP) if rooms.take(wanted)] if sets else []
    _come_in(tx, queue, found)
    return bool(found)


def may_come(tx: Transaction, queue: str) -> bool:
    """Would ``let_in_queue`` let anybody in?"""
    return bool(_sets_with_room(tx, queue, _Rooms(tx)))


def let_in_after_expiry(tx: Transaction) -> None:
    """Remove the limits whose time is over."""
    for (throttle,) in tx.all(_EXPIRED, tx.now, EXPIRED_STEP):
        tx.run("DELETE FROM throttles WHERE id = ?", throttle)
        let_in(tx, throttle)


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


class _Rooms(dict[str, float]):
    """How many places are free in each throttle that is asked for, less those that were given to jobs since."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._full: set[str] = set()  # sets of throttles, as texts, that were found full: they do not get room again

    def __missing__(self, throttle: str) -> float:
        room = self[throttle] = _room(self._tx, throttle)
        return room

    def take(self, text: str) -> bool:
        """Take a place in each of a job's throttles; False, and nothing is taken, if one of them has none."""
        if text in self._full:
            return False
        wanted = names(text)
        if any(self[throttle] <= 0 for throttle in wanted):
            self._full.add(text)
            return False
        self.update({throttle: self[throttle] - 1 for throttle in wanted})
        return True

    def has(self, text: str) -> bool:
        """Has each of a job's throttles a place?"""
        return all(self[throttle] > 0 for throttle in names(text))


def _sets_with_room(tx: Transaction, queue: str, rooms: _Rooms) -> list[str]:
    return [text for (text,) in tx.all(_SETS, queue, STEP) if rooms.has(text)]


def _let_in(tx: Transaction, throttle: str, queue: str, slots: float) -> None:
    rooms = _Rooms(tx)
    found = []
    for job, line, wanted in tx.each(_LINE, throttle, queue, STEP):
        if slots <= 0:
            break
        if line == _WAITING:
            slots -= 1
        elif rooms.take(wanted):
            slots -= 1
            found.append(job)
    _come_in(tx, queue, found)


def _come_in(tx: Transaction, queue: str, found: Iterable[int]) -> None:
    for job in found:
        tx.run("UPDATE jobs SET state = 'waiting' WHERE id = ?", job)
        tx.wake(queue)


def _room(tx: Transaction, throttle: str) -> float:
    """How many places are free, below 0 if the limit was lowered since; infinite where there is no limit."""
    maximum = tx.value(_LIMIT, throttle, tx.now)
    return maximum - tx.value(_HELD, throttle) if maximum else math.inf
