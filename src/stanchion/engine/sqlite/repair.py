"""How a database is mended: never by a guess, only by making what is derived agree again with what it is derived from."""

from __future__ import annotations

from stanchion.engine.contract import Finding
from stanchion.engine.sqlite.handlers import dependents, tags, throttles
from stanchion.engine.sqlite.handlers.configuration import forget_settings, read_option
from stanchion.engine.sqlite.handlers.mending import make_readable
from stanchion.engine.sqlite.handlers.recurring import Template
from stanchion.engine.sqlite.handlers.rows import SELECT, SELECT_WHOLE, Row, names, problem, rows, unreadable, wholes
from stanchion.engine.sqlite.handlers.taking import set_aside
from stanchion.engine.sqlite.inspection import (
    COMPLETE,
    DAMAGED,
    HIGHEST,
    LINE,
    STRAYS,
    UNKNOWN,
    UNTOLD,
    inspect,
    lists_readable,
)
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.states import State

_GROUP, _WHEN = "json_extract(failure, '$.group')", "json_extract(failure, '$.when')"
_BY_STATE = (
    "worker = '', expires = 0, grace = 0 WHERE state <> 'running' AND (worker <> '' OR expires <> 0 OR grace <> 0)",
    "due = 0 WHERE state NOT IN ('scheduled', 'depends') AND due <> 0",
    "queue = '' WHERE state = 'complete' AND queue <> ''",
    "failure_group = NULL, failed_at = NULL WHERE state <> 'failed' AND (failure_group IS NOT NULL OR failed_at IS NOT NULL)",
    "failure = json_object('group', failure_group, 'message', '', 'when', failed_at, 'worker', '')"
    " WHERE state = 'failed' AND failure IS NULL AND failure_group IS NOT NULL AND failed_at IS NOT NULL",
    f"failure_group = {_GROUP}, failed_at = {_WHEN} WHERE state = 'failed' AND failure IS NOT NULL"
    f" AND (failure_group IS NOT {_GROUP} OR failed_at IS NOT {_WHEN})",
    "remaining = max(min(remaining, max(retries, 0)), min(retries, 0))"
    " WHERE remaining <> max(min(remaining, max(retries, 0)), min(retries, 0))",
    # Held by nobody: whoever pops next may have it.
    "state = 'stalled', expires = 0, grace = 0 WHERE state = 'running' AND worker = ''",
    "state = 'waiting' WHERE state = 'throttled' AND throttles = '[]'",
)
"""What follows from a job's state and is kept beside it."""

_RECOUNT = (
    "UPDATE stats SET failed = 0 WHERE failed <> 0",
    "UPDATE stats SET failed = still.jobs FROM (SELECT queue, CAST(failed_at / 86400 AS INTEGER) * 86400 AS day, count(*) AS jobs"
    " FROM jobs WHERE state = 'failed' GROUP BY 1, 2) AS still WHERE stats.queue = still.queue AND stats.day = still.day",
    f"UPDATE tallies SET count = ({COMPLETE}) WHERE name = 'complete'",
)


def can_mend(found: list[Finding]) -> bool:
    """Is there something to mend, and no damage to a table? Indexes can be made again; of tables, only a copy helps."""
    return bool(found) and all(" index " in finding.message for finding in found if finding.code == DAMAGED)


def mend(tx: Transaction) -> list[Finding]:
    """Everything that was wrong, mended as far as that can be: what is left is found again."""
    found = inspect(tx)
    if any(finding.code == DAMAGED for finding in found):
        tx.run("REINDEX")
        found += inspect(tx)
    if found:
        _mend(tx)
    left = {(finding.code, finding.subject) for finding in inspect(tx)}
    return [_with_mended(finding, (finding.code, finding.subject) not in left) for finding in found]


def _mend(tx: Transaction) -> None:
    for option, value in tx.all("SELECT option, value FROM config"):
        if read_option(option, value) is None:
            tx.run("DELETE FROM config WHERE option = ?", option)
    forget_settings(tx)
    _mend_records(tx)
    _mend_templates(tx)
    for change in _BY_STATE:
        tx.run(f"UPDATE jobs SET {change}")
    tx.run("UPDATE jobs SET expires = ? WHERE state = 'running' AND expires = 0", tx.now)
    for stray in STRAYS:
        tx.run(f"DELETE FROM {stray.where}")
    for row in rows(tx, SELECT):
        _realign(tx, row)
    tx.run(f"UPDATE throttle_jobs SET (line, queue, priority, ready_at, seq) = {LINE}")
    _mend_dependents(tx)
    for change in _RECOUNT:
        tx.run(change)
    tx.pass_number(tx.value(HIGHEST))


def _mend_records(tx: Transaction) -> None:
    for row in rows(tx, f"{SELECT} WHERE {UNKNOWN}"):
        tx.run("UPDATE jobs SET state = 'waiting', on_dependency_failure = 'wait' WHERE id = ?", row.id)
        set_aside(tx, row, f"it was in the state {row.state!r}, with the policy {row.on_dependency_failure!r}")
    for job in wholes(tx, SELECT_WHOLE):
        reason = problem(job)
        if reason and job.row.state not in (State.FAILED, State.COMPLETE):
            set_aside(tx, job.row, reason)
        elif unreadable(job.row):
            make_readable(tx, job.row)


def _mend_templates(tx: Transaction) -> None:
    for row in tx.all("SELECT * FROM recurring"):
        template = Template._make(row)
        for column in ("tags", "throttles"):
            if not lists_readable((getattr(template, column),)):
                tx.run(f"UPDATE recurring SET {column} = '[]' WHERE jid = ?", template.jid)


def _realign(tx: Transaction, row: Row) -> None:
    """Let the indexes hold what the record says."""
    tags.retag(tx, row.id, names(row.tags))
    own = () if row.state == State.COMPLETE else names(row.throttles)
    noted = {name for (name,) in tx.all("SELECT throttle FROM throttle_jobs WHERE job = ?", row.id)}
    if noted != set(own):
        throttles.join(tx, row.id, own)
        if row.state == State.RUNNING:
            throttles.take_places(tx, row.id)


def _mend_dependents(tx: Transaction) -> None:
    dependents.release_free(tx, [job for (job,) in tx.all("SELECT id FROM jobs WHERE state = 'depends'")])
    # The commands to come tell them, step by step.
    tx.run_many("INSERT INTO releases VALUES (?)", [(job,) for job, _ in tx.all(UNTOLD)])


def _with_mended(finding: Finding, mended: bool) -> Finding:
    return Finding(finding.code, finding.subject, finding.message, mended)
