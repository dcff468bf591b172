"""Rows of ``jobs``, and how they become records."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import msgspec

from stanchion.engine.sqlite.transaction import Transaction
from stanchion.errors import JobNotFound
from stanchion.records import Failure, HistoryEntry, Job
from stanchion.states import State

_A = TypeVar("_A")
_B = TypeVar("_B")

MISSING = "null"
"""The data of a job whose data is lost."""


class Row(NamedTuple):
    """A row of ``jobs`` in the order of its columns, and what belongs to it in other tables."""

    id: int
    jid: str
    klass: str
    queue: str
    state: str
    priority: float
    ready_at: float
    seq: int
    due: float
    worker: str
    expires: float
    grace: int
    popped_at: float
    attempt: int
    retries: int
    remaining: int
    tags: str
    throttles: str
    on_dependency_failure: str
    spawned_from: str | None
    failure: str | None
    failure_group: str | None
    failed_at: float | None
    completed_at: float | None
    history: str
    history_count: int
    checksum: int
    data: str
    result: str | None
    tracked: int
    dependencies: str | None
    dependents: str | None


SELECT = """SELECT jobs.*, payloads.data, payloads.result,
    EXISTS (SELECT 1 FROM tracked WHERE tracked.jid = jobs.jid),
    (SELECT json_group_array(other.jid) FROM dependencies JOIN jobs AS other ON other.id = dependencies.on_job
        WHERE dependencies.job = jobs.id),
    (SELECT json_group_array(other.jid) FROM dependencies JOIN jobs AS other ON other.id = dependencies.job
        WHERE dependencies.on_job = jobs.id)
FROM jobs LEFT JOIN payloads ON payloads.job = jobs.id """

_BY_JID = SELECT + "WHERE jobs.jid = ?"
_BY_JIDS = SELECT + "WHERE jobs.jid IN (SELECT value FROM json_each(?))"
_BY_ID = SELECT + "WHERE jobs.id = ?"

_names = msgspec.json.Decoder(tuple[str, ...])
_failure = msgspec.json.Decoder(Failure)
_history = msgspec.json.Decoder(list[tuple[str, float, dict[str, Any]]])
_encoder = msgspec.json.Encoder()


def find(tx: Transaction, jid: str) -> Row | None:
    """The job's row, or None."""
    row = tx.one(_BY_JID, jid)
    return None if row is None else Row._make(row)


def require(tx: Transaction, jid: str) -> Row:
    """The job's row; JobNotFound if there is none."""
    row = find(tx, jid)
    if row is None:
        raise JobNotFound(jid=jid)
    return row


def reread(tx: Transaction, job: int) -> Row:
    """The row as it is now."""
    return rows(tx, _BY_ID, job)[0]


def find_all(tx: Transaction, jids: Iterable[str]) -> dict[str, Row]:
    """The rows of those jobs that exist, by jid."""
    return {row.jid: row for row in rows(tx, _BY_JIDS, texts(jids))}


def rows(tx: Transaction, sql: str, *args: Any) -> list[Row]:
    """The rows that a statement which begins with SELECT finds."""
    return [Row._make(row) for row in tx.all(sql, *args)]


def texts(names: Iterable[str]) -> str:
    """Names as the JSON list that the tables keep."""
    return _encoder.encode(tuple(names)).decode()


def names(text: str) -> tuple[str, ...]:
    """A JSON list of names as a tuple."""
    return () if text == "[]" else _names.decode(text)


def readable_names(text: str) -> tuple[str, ...]:
    """A JSON list of names as a tuple; none where it is broken."""
    return readable(names, text, ())


def checksum(klass: str, data: str) -> int:
    """A checksum of what the worker is given: a byte that changed on the disk is noticed before it is run."""
    return zlib.crc32(data.encode(), zlib.crc32(klass.encode()))


def problem(row: Row) -> str | None:
    """What is wrong with a row that should become a job, or None."""
    try:
        if row.data is None:
            return "its data is missing"
        if checksum(row.klass, row.data) != row.checksum:
            return "its klass or data has changed since it was put: the checksum does not match"
        names(row.tags), names(row.throttles), history(row), failure(row)
    except (msgspec.MsgspecError, ValueError) as error:
        return f"its record cannot be read: {error}"
    return None


def history(row: Row) -> tuple[HistoryEntry, ...]:
    """The entries of a row's history, oldest first."""
    return tuple(HistoryEntry(what, when, more) for what, when, more in _history.decode(f"[{row.history}]"))


def failure(row: Row) -> Failure | None:
    """The row's last failure."""
    return _failure.decode(row.failure) if row.failure else None


def job_of(row: Row, now: float) -> Job:
    """The record of a row as it reads at ``now``: a scheduled job whose time has come is waiting."""
    came_due = row.state == State.SCHEDULED and row.due <= now
    return Job(
        jid=row.jid,
        klass=row.klass,
        data=MISSING if row.data is None else row.data,
        queue=row.queue,
        state=State.WAITING if came_due else State(row.state),
        worker=row.worker,
        expires=row.expires,
        priority=row.priority,
        retries=row.retries,
        remaining=row.remaining,
        tags=readable_names(row.tags),
        dependencies=_sorted(row.dependencies),
        dependents=_sorted(row.dependents),
        throttles=readable_names(row.throttles),
        tracked=bool(row.tracked),
        spawned_from_jid=row.spawned_from,
        failure=readable(failure, row, None),
        history=readable(history, row, ()),
        attempt=row.attempt,
        result=row.result,
        on_dependency_failure=row.on_dependency_failure,  # type: ignore[arg-type]
        due=0.0 if came_due else row.due,
        ready_at=row.due if came_due else row.ready_at,
        popped_at=row.popped_at,
        grace=bool(row.grace),
    )


def encode_failure(group: str, message: str, when: float, worker: str) -> str:
    """A failure as the table keeps it."""
    return _encoder.encode(Failure(group, message, when, worker)).decode()


def readable(read: Callable[[_A], _B], column: _A, otherwise: _B) -> _B:
    """What a column says, or its empty value where it is broken: a job can be looked at in any condition."""
    try:
        return read(column)
    except (msgspec.MsgspecError, ValueError):
        return otherwise


def _sorted(text: str | None) -> tuple[str, ...]:
    return () if text is None or text == "[]" else tuple(sorted(_names.decode(text)))
