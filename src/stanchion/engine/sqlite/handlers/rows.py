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
    """A row of ``jobs`` in the order of its columns, and what most commands ask about it besides."""

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
    tracked: int
    awaited: int
    """1 if other jobs wait for it."""


class Whole(NamedTuple):
    """A job with all that belongs to it in other tables: what a record is made of. Its data and links may be long."""

    row: Row
    data: str | None
    result: str | None
    dependencies: str | None
    dependents: str | None


_COLUMNS = """jobs.*, EXISTS (SELECT 1 FROM tracked WHERE tracked.jid = jobs.jid),
    EXISTS (SELECT 1 FROM dependencies WHERE dependencies.on_job = jobs.id)"""
SELECT = f"SELECT {_COLUMNS} FROM jobs "
"""How a statement begins that finds rows."""
SELECT_WHOLE = f"""SELECT {_COLUMNS}, payloads.data, payloads.result,
    (SELECT json_group_array(other.jid) FROM dependencies JOIN jobs AS other ON other.id = dependencies.on_job
        WHERE dependencies.job = jobs.id),
    (SELECT json_group_array(other.jid) FROM dependencies JOIN jobs AS other ON other.id = dependencies.job
        WHERE dependencies.on_job = jobs.id)
FROM jobs LEFT JOIN payloads ON payloads.job = jobs.id """
"""How a statement begins that finds jobs with all that belongs to them."""

_BY_JID = "WHERE jobs.jid = ?"
_BY_JIDS = "WHERE jobs.jid IN (SELECT value FROM json_each(?))"
_BY_ID = "WHERE jobs.id = ?"
_FIND, _FIND_ALL, _REREAD = SELECT + _BY_JID, SELECT + _BY_JIDS, SELECT + _BY_ID
_FIND_WHOLE, _FIND_ALL_WHOLE = SELECT_WHOLE + _BY_JID, SELECT_WHOLE + _BY_JIDS
_WIDTH = len(Row._fields)

_names = msgspec.json.Decoder(tuple[str, ...])
_failure = msgspec.json.Decoder(Failure)
_history = msgspec.json.Decoder(list[tuple[str, float, dict[str, Any]]])
_encoder = msgspec.json.Encoder()


def find(tx: Transaction, jid: str) -> Row | None:
    """The job's row, or None."""
    row = tx.one(_FIND, jid)
    return None if row is None else Row._make(row)


def require(tx: Transaction, jid: str) -> Row:
    """The job's row; JobNotFound if there is none."""
    row = find(tx, jid)
    if row is None:
        raise JobNotFound(jid=jid)
    return row


def reread(tx: Transaction, job: int) -> Row:
    """The row as it is now."""
    return rows(tx, _REREAD, job)[0]


def find_all(tx: Transaction, jids: Iterable[str]) -> dict[str, Row]:
    """The rows of those jobs that exist, by jid."""
    return {row.jid: row for row in rows(tx, _FIND_ALL, texts(jids))}


def find_whole(tx: Transaction, jid: str) -> Whole | None:
    """The whole job, or None."""
    return next(iter(wholes(tx, _FIND_WHOLE, jid)), None)


def find_all_whole(tx: Transaction, jids: Iterable[str]) -> dict[str, Whole]:
    """Those of the jobs that exist, whole, by jid."""
    return {whole.row.jid: whole for whole in wholes(tx, _FIND_ALL_WHOLE, texts(jids))}


def rows(tx: Transaction, sql: str, *args: Any) -> list[Row]:
    """The rows that a statement which begins with SELECT finds."""
    return [Row._make(row) for row in tx.all(sql, *args)]


def wholes(tx: Transaction, sql: str, *args: Any) -> list[Whole]:
    """The jobs that a statement which begins with SELECT_WHOLE finds."""
    return [Whole(Row._make(found[:_WIDTH]), *found[_WIDTH:]) for found in tx.all(sql, *args)]


def texts(names: Iterable[str]) -> str:
    """Names as the JSON list that the tables keep."""
    return _encoder.encode(tuple(names)).decode()


def numbers(ids: Iterable[int]) -> str:
    """Numbers as the JSON list that statements take."""
    return _encoder.encode(tuple(ids)).decode()


def names(text: str) -> tuple[str, ...]:
    """A JSON list of names as a tuple; none where it is broken: a job can be seen, moved and removed in any condition."""
    return () if text == "[]" else readable(checked_names, text, ())


def checked_names(text: str) -> tuple[str, ...]:
    """A JSON list of names as a tuple; MsgspecError where it is broken."""
    return _names.decode(text)


def checksum(klass: str, data: str) -> int:
    """A checksum of what the worker is given: a byte that changed on the disk is noticed before it is run."""
    return zlib.crc32(data.encode(), zlib.crc32(klass.encode()))


def problem(job: Whole) -> str | None:
    """What is wrong with a job that a worker should get, or None."""
    if job.data is None:
        return "its data is missing"
    try:
        if checksum(job.row.klass, job.data) != job.row.checksum:
            return "its klass or data has changed since it was put: the checksum does not match"
    except UnicodeEncodeError as error:
        return f"its klass or data cannot be read: {error}"
    return unreadable(job.row)


def unreadable(row: Row) -> str | None:
    """Which column of a row cannot be read as what it should be, or None."""
    try:
        checked_names(row.tags), checked_names(row.throttles), history(row), failure(row)
    except (msgspec.MsgspecError, ValueError) as error:
        return f"its record cannot be read: {error}"
    return None


def history(row: Row) -> tuple[HistoryEntry, ...]:
    """The entries of a row's history, oldest first."""
    return tuple(HistoryEntry(what, when, more) for what, when, more in _history.decode(f"[{row.history}]"))


def failure(row: Row) -> Failure | None:
    """The row's last failure."""
    return _failure.decode(row.failure) if row.failure else None


def job_of(job: Whole, now: float) -> Job:
    """The record of a job as it reads at ``now``: a scheduled job whose time has come is waiting."""
    row = job.row
    came_due = row.state == State.SCHEDULED and row.due <= now
    return Job(
        jid=row.jid,
        klass=row.klass,
        data=MISSING if job.data is None else job.data,
        queue=row.queue,
        state=State.WAITING if came_due else State(row.state),
        worker=row.worker,
        expires=row.expires,
        priority=row.priority,
        retries=row.retries,
        remaining=row.remaining,
        tags=names(row.tags),
        dependencies=_sorted(job.dependencies),
        dependents=_sorted(job.dependents),
        throttles=names(row.throttles),
        tracked=bool(row.tracked),
        spawned_from_jid=row.spawned_from,
        failure=readable(failure, row, None),
        history=readable(history, row, ()),
        attempt=row.attempt,
        result=job.result,
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
    """What a column says, or its empty value where it is broken."""
    try:
        return read(column)
    except (msgspec.MsgspecError, ValueError):
        return otherwise


def _sorted(text: str | None) -> tuple[str, ...]:
    return () if text is None or text == "[]" else tuple(sorted(_names.decode(text)))
