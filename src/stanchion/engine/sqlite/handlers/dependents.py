"""What happens to the jobs that wait for another when it completes, fails, or is removed.

Up to STEP dependents are told at once; the rest in later commands (``releases``), so that no command grows with their number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from stanchion.engine.sqlite.handlers.ending import cancel_row, fail_row
from stanchion.engine.sqlite.handlers.line import place, stand
from stanchion.engine.sqlite.handlers.rows import SELECT, Row, names, reread, rows, texts
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.errors import DependencyCircle
from stanchion.records import DependencyPolicy
from stanchion.rules.circles import find_circle
from stanchion.states import State

STEP = 1000
GROUP = "dependency-failed"

_DEPENDENTS = SELECT + "JOIN dependencies ON dependencies.job = jobs.id WHERE dependencies.on_job = ? LIMIT ?"
# Those whose policy is to wait are not told: they would be found again and again, and hide the others.
_CONCERNED = _DEPENDENTS.replace(" LIMIT", " AND on_dependency_failure <> 'wait' LIMIT")
_CUT = "DELETE FROM dependencies WHERE job = ? AND on_job = ?"
_WAITS = "SELECT 1 FROM dependencies WHERE job = ? LIMIT 1"


class Other(NamedTuple):
    """A job that another one waits for."""

    id: int
    jid: str
    state: str


def completed(tx: Transaction, job: int) -> None:
    """The job is complete: those that waited for it no longer do."""
    found = rows(tx, _DEPENDENTS, job, STEP + 1)
    for dependent in found[:STEP]:
        _release(tx, dependent, job)
    if len(found) > STEP:
        _leave_rest(tx, job)


def lost(tx: Transaction, row: Row) -> None:
    """The job failed or was removed: each dependent's policy says what that means for it, and for its dependents in turn.

    Those of a job that is removed are all told at once: nothing is left that could be come back to.
    """
    gone = deque([row])
    while gone:
        cause = gone.popleft()
        found = rows(tx, _CONCERNED, cause.id, STEP + 1)
        for dependent in found[:STEP]:
            gone.extend(_follow(tx, dependent, cause))
        if len(found) > STEP and tx.value("SELECT 1 FROM jobs WHERE id = ?", cause.id):
            _leave_rest(tx, cause.id)
        elif len(found) > STEP:
            gone.appendleft(cause)


def go_on(tx: Transaction) -> None:
    """Tell another step of the dependents that were left for later."""
    job = tx.value("SELECT job FROM releases LIMIT 1")
    if job is not None:
        _tell_rest(tx, job)


def finish(tx: Transaction, row: Row) -> None:
    """Tell all the dependents left, before the job becomes something else."""
    while tx.value("SELECT 1 FROM releases WHERE job = ?", row.id):
        _tell_rest(tx, row.id)


def unfinished(tx: Transaction, jids: Iterable[str], policy: DependencyPolicy) -> list[Other]:
    """Those of the jobs that one with this policy has to wait for: they exist and are not complete (nor failed, for run)."""
    over = {State.COMPLETE, State.FAILED} if policy == "run" else {State.COMPLETE}
    found = tx.all("SELECT id, jid, state FROM jobs WHERE jid IN (SELECT value FROM json_each(?))", texts(jids))
    return [Other(*one) for one in found if one[2] not in over]


def refuse_circle(tx: Transaction, jid: str, on: Iterable[str]) -> None:
    """Refuse that the job waits for others if any of them waits for it already."""

    def depends_of(job: str) -> Iterable[str]:
        if job == jid:
            return on
        sql = (
            "SELECT other.jid FROM jobs JOIN dependencies ON dependencies.job = jobs.id"
            " JOIN jobs AS other ON other.id = dependencies.on_job WHERE jobs.jid = ?"
        )
        return [other for (other,) in tx.all(sql, job)]

    circle = find_circle(jid, depends_of)
    if circle:
        raise DependencyCircle(jid=jid, circle=" → ".join(circle))


def wait_for(tx: Transaction, job: int, on: Iterable[Other]) -> None:
    """Let a job wait for others."""
    tx.run_many("INSERT OR IGNORE INTO dependencies VALUES (?, ?)", [(job, other.id) for other in on])


def tell_of_failed(tx: Transaction, on: Iterable[Other]) -> None:
    """Apply the policies of new dependents to those of their dependencies that had failed before."""
    for other in on:
        if other.state == State.FAILED:
            lost(tx, reread(tx, other.id))


def release_if_free(tx: Transaction, dependent: Row) -> None:
    """Let a job that waits for nothing any more come in line: now, or at the time kept for it."""
    if dependent.state == State.DEPENDS and tx.value(_WAITS, dependent.id) is None:
        stand(
            tx,
            dependent,
            place(tx, dependent.due, depends=False, throttle_ids=names(dependent.throttles), now=tx.now),
        )


def _leave_rest(tx: Transaction, job: int) -> None:
    """Leave the dependents that were not told yet to the commands to come."""
    tx.run("INSERT OR IGNORE INTO releases VALUES (?)", job)


def _tell_rest(tx: Transaction, job: int) -> None:
    tx.run("DELETE FROM releases WHERE job = ?", job)
    for row in rows(tx, SELECT + "WHERE jobs.id = ?", job):
        if row.state == State.FAILED:
            lost(tx, row)
        elif row.state == State.COMPLETE:
            completed(tx, job)


def _release(tx: Transaction, dependent: Row, on_job: int) -> None:
    tx.run(_CUT, dependent.id, on_job)
    release_if_free(tx, dependent)


def _follow(tx: Transaction, dependent: Row, cause: Row) -> list[Row]:
    """Apply the dependent's policy; the jobs whose dependents must be told next."""
    policy = dependent.on_dependency_failure
    if policy == "wait":
        return []
    if policy == "run":
        _release(tx, dependent, cause.id)
        return []
    if policy == "cancel" and not _waited_for(tx, dependent):
        cancel_row(tx, dependent)
    else:
        # One that others wait for patiently is not taken from under them: it fails, where they can be seen to be blocked.
        fail_row(tx, dependent, GROUP, f"Job {cause.jid}, which it depends on, failed or was canceled", "")
    return [dependent]


def _waited_for(tx: Transaction, row: Row) -> bool:
    sql = "SELECT 1 FROM dependencies JOIN jobs ON jobs.id = job WHERE on_job = ? AND on_dependency_failure = 'wait'"
    return tx.value(sql, row.id) is not None
