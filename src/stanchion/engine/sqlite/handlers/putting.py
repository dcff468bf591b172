"""put, put_many, requeue, unfail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from stanchion.commands import Put, PutMany, Requeue, Unfail
from stanchion.engine.sqlite.handlers import dependents, events, throttles
from stanchion.engine.sqlite.handlers.dependents import Other, refuse_circle, tell_of_failed, unfinished, wait_for
from stanchion.engine.sqlite.handlers.history import appended, entry
from stanchion.engine.sqlite.handlers.line import Place, announce, know_queue, leave, place, tell_robbed
from stanchion.engine.sqlite.handlers.rows import MISSING, SELECT, Row, checksum, find, find_all, names, require, rows, texts
from stanchion.engine.sqlite.handlers.tags import retag
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.errors import BadArgument, StanchionError
from stanchion.records import DependencyPolicy
from stanchion.states import State

_T = TypeVar("_T")

RETRIES = 5
"""Retries of a job that was put without saying how many."""

_INSERT = """INSERT INTO jobs (jid, klass, queue, state, priority, ready_at, seq, due, retries, remaining, tags, throttles,
    on_dependency_failure, spawned_from, history, history_count, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_DATA = "SELECT data FROM payloads WHERE job = ?"
_RENEW = """UPDATE jobs SET klass = ?, queue = ?, state = ?, priority = ?, ready_at = ?, seq = ?, due = ?, worker = '',
    expires = 0, grace = 0, popped_at = 0, retries = ?, remaining = ?, tags = ?, throttles = ?, on_dependency_failure = ?,
    failure_group = NULL, failed_at = NULL, completed_at = NULL, history = ?, history_count = ?, checksum = ? WHERE id = ?"""


class NewJob(NamedTuple):
    """All that makes a job, with nothing left out."""

    queue: str
    jid: str
    klass: str
    data: str
    priority: float
    tags: tuple[str, ...]
    retries: int
    throttles: tuple[str, ...]
    on_dependency_failure: DependencyPolicy = "wait"
    spawned_from: str | None = None


def put(tx: Transaction, command: Put) -> str:
    return _put_one(tx, command, find(tx, command.jid))


def requeue(tx: Transaction, command: Requeue) -> str:
    old = require(tx, command.jid)
    data = command.data if command.data is not None else tx.value(_DATA, old.id)
    job = NewJob(
        command.queue,
        command.jid,
        _else(command.klass, old.klass),
        _else(data, MISSING),
        _else(command.priority, old.priority),
        _else(command.tags, names(old.tags)),
        _else(command.retries, old.retries),
        _else(command.throttles, names(old.throttles)),
        old.on_dependency_failure,  # type: ignore[arg-type]
        old.spawned_from,
    )
    return _put(tx, old, job, command.depends, command.delay, command.worker)


def put_many(tx: Transaction, command: PutMany) -> tuple[str, ...]:
    jids: list[str] = []
    there = set(find_all(tx, (one.jid for one in command.puts)))
    for index, one in enumerate(command.puts):
        try:
            jids.append(_put_one(tx, one, find(tx, one.jid) if one.jid in there else None))
            there.add(one.jid)
        except StanchionError as error:
            raise BadArgument(command="put_many", argument=f"puts[{index}]", problem=f"was refused: {error}") from error
    return tuple(jids)


def unfail(tx: Transaction, command: Unfail) -> int:
    sql = SELECT + "WHERE state = 'failed' AND failure_group = ? ORDER BY failed_at, seq LIMIT ?"
    found = rows(tx, sql, command.group, command.count)
    for row in found:
        line_up_again(tx, row, command.queue, _here(tx, row))
        events.log(tx, "put", jid=row.jid, queue=command.queue)
        events.tell_trackers(tx, row, "put")
    if found:
        know_queue(tx, command.queue)
    return len(found)


def spawn(tx: Transaction, job: NewJob, due: float) -> None:
    """Put a recurring job's child as if it had been put at its due time."""
    where = place(tx, 0.0, depends=False, throttle_ids=job.throttles, now=due)
    _insert(tx, job, where, due)
    events.log(tx, "put", jid=job.jid, queue=job.queue)


def line_up_again(tx: Transaction, row: Row, queue: str, where: Place, *before: str) -> None:
    """Renew a job as it is in a queue's line: with all its retries, and last among its equals."""
    leave(tx, row)
    dependents.finish(tx, row)
    written = appended(tx, row, *before, entry("put", tx.now, q=queue))
    tx.run(
        "UPDATE jobs SET queue = ?, state = ?, ready_at = ?, due = ?, seq = ?, remaining = retries, worker = '', expires = 0,"
        " grace = 0, popped_at = 0, failure_group = NULL, failed_at = NULL, history = ?, history_count = ? WHERE id = ?",
        queue,
        where.state,
        where.ready_at,
        where.due,
        tx.number(),
        *written,
        row.id,
    )
    announce(tx, queue, where)


def depend_on(tx: Transaction, job: int, on: Sequence[Other]) -> None:
    """Note what the job waits for from now on, instead of what it waited for before."""
    tx.run("DELETE FROM dependencies WHERE job = ?", job)
    wait_for(tx, job, on)


def _put_one(tx: Transaction, command: Put, old: Row | None) -> str:
    if old is not None and command.if_absent:
        return command.jid
    job = NewJob(
        command.queue,
        command.jid,
        command.klass,
        command.data,
        _else(command.priority, old.priority if old else 0.0),
        _else(command.tags, names(old.tags) if old else ()),
        _else(command.retries, old.retries if old else RETRIES),
        command.throttles,
        command.on_dependency_failure,
        old.spawned_from if old else None,
    )
    return _put(tx, old, job, command.depends, command.delay, command.worker)


def _put(tx: Transaction, old: Row | None, job: NewJob, depends: tuple[str, ...], delay: float, worker: str) -> str:
    if old is not None and old.state == State.DEPENDS and not depends:
        # They stay, and what the policy says of those that have failed may be new.
        depends = dependents.dependencies_of(tx, job.jid)
    on = unfinished(tx, depends, job.on_dependency_failure) if depends else []
    if old is not None:
        if on:
            refuse_circle(tx, job.jid, [other.jid for other in on])
        leave(tx, old)
        dependents.finish(tx, old)
    where = place(tx, tx.now + delay if delay else 0.0, bool(on), job.throttles, tx.now)
    number = _insert(tx, job, where, tx.now) if old is None else _renew(tx, old, job, where)
    if depends:
        depend_on(tx, number, on)
    _say_put(tx, old, job, worker)
    tell_of_failed(tx, on)
    return job.jid


def _say_put(tx: Transaction, old: Row | None, job: NewJob, worker: str) -> None:
    events.log(tx, "put", jid=job.jid, queue=job.queue)
    if old is not None:
        tell_robbed(tx, old, worker)
        events.tell_trackers(tx, old, "put")
    elif tx.listened and tx.value("SELECT 1 FROM tracked WHERE jid = ?", job.jid):
        tx.emit("put", job.jid)


def _insert(tx: Transaction, job: NewJob, where: Place, when: float) -> int:
    number = tx.insert(
        _INSERT,
        job.jid,
        job.klass,
        job.queue,
        where.state,
        job.priority,
        where.ready_at,
        tx.number(),
        where.due,
        job.retries,
        job.retries,
        texts(job.tags) if job.tags else "[]",
        texts(job.throttles) if job.throttles else "[]",
        job.on_dependency_failure,
        job.spawned_from,
        entry("put", when, q=job.queue),
        1,
        checksum(job.klass, job.data),
    )
    tx.insert("INSERT INTO payloads (job, data) VALUES (?, ?)", number, job.data)
    if job.tags:
        retag(tx, number, job.tags)
    if job.throttles:
        throttles.join(tx, number, job.throttles)
    know_queue(tx, job.queue)
    announce(tx, job.queue, where)
    return number


def _renew(tx: Transaction, old: Row, job: NewJob, where: Place) -> int:
    written = appended(tx, old, entry("put", tx.now, q=job.queue))
    tx.run(
        _RENEW,
        job.klass,
        job.queue,
        where.state,
        job.priority,
        where.ready_at,
        tx.number(),
        where.due,
        job.retries,
        job.retries,
        texts(job.tags),
        texts(job.throttles),
        job.on_dependency_failure,
        *written,
        checksum(job.klass, job.data),
        old.id,
    )
    tx.run("INSERT OR REPLACE INTO payloads (job, data) VALUES (?, ?)", old.id, job.data)
    if job.tags != names(old.tags):
        retag(tx, old.id, job.tags)
    if job.throttles or old.throttles != "[]":
        throttles.join(tx, old.id, job.throttles)
    if where.state != State.DEPENDS:
        tx.run("DELETE FROM dependencies WHERE job = ?", old.id)
    know_queue(tx, job.queue)
    announce(tx, job.queue, where)
    return old.id


def _here(tx: Transaction, row: Row) -> Place:
    return place(tx, 0.0, depends=False, throttle_ids=names(row.throttles), now=tx.now)


def _else(given: _T | None, otherwise: _T) -> _T:
    return otherwise if given is None else given
