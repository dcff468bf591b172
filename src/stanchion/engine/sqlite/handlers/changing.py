"""get, multiget, priority, log, depend, undepend: reading and changing single jobs."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.commands import Depend, Get, Log, MultiGet, SetPriority, Undepend
from stanchion.engine.sqlite.handlers import throttles
from stanchion.engine.sqlite.handlers.dependents import (
    refuse_circle,
    release_free,
    tell_of_failed,
    unfinished,
    wait_for,
)
from stanchion.engine.sqlite.handlers.history import append, entry
from stanchion.engine.sqlite.handlers.rows import Row, find_all_whole, find_whole, job_of, names, require, texts
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.errors import BadArgument, JobNotDepending
from stanchion.records import Job
from stanchion.states import State


def get(tx: Transaction, command: Get) -> Job | None:
    found = find_whole(tx, command.jid)
    return None if found is None else job_of(found, tx.now)


def multiget(tx: Transaction, command: MultiGet) -> tuple[Job, ...]:
    found = find_all_whole(tx, command.jids)
    return tuple(job_of(found[jid], tx.now) for jid in command.jids if jid in found)


def set_priority(tx: Transaction, command: SetPriority) -> float:
    row = require(tx, command.jid)
    tx.run("UPDATE jobs SET priority = ? WHERE id = ?", command.priority, row.id)
    if row.throttles != "[]" and row.state in (State.WAITING, State.THROTTLED):
        throttles.let_all_in(tx, names(row.throttles))
    return command.priority


def log(tx: Transaction, command: Log) -> None:
    row = require(tx, command.jid)
    append(tx, row, entry(command.message, tx.now, **_more(command)))


def depend(tx: Transaction, command: Depend) -> bool:
    row = _depending(tx, command.jid)
    on = unfinished(tx, command.on, row.on_dependency_failure)  # type: ignore[arg-type]
    refuse_circle(tx, row.jid, [other.jid for other in on])
    wait_for(tx, row.id, on)
    tell_of_failed(tx, on)
    return True


def undepend(tx: Transaction, command: Undepend) -> bool:
    row = _depending(tx, command.jid)
    if command.off is None:
        tx.run("DELETE FROM dependencies WHERE job = ?", row.id)
    else:
        tx.run(
            "DELETE FROM dependencies WHERE job = ? AND on_job IN"
            " (SELECT id FROM jobs WHERE jid IN (SELECT value FROM json_each(?)))",
            row.id,
            texts(command.off),
        )
    release_free(tx, [row.id])
    return True


def _depending(tx: Transaction, jid: str) -> Row:
    row = require(tx, jid)
    if row.state != State.DEPENDS:
        raise JobNotDepending(jid=jid, state=row.state)
    return row


def _more(command: Log) -> dict[str, Any]:
    more = {} if command.data is None else msgspec.json.decode(command.data)
    if not isinstance(more, dict):
        raise BadArgument(command=command.name, argument="data", problem="must be a JSON object")
    return {key: value for key, value in more.items() if key not in ("what", "when")}
