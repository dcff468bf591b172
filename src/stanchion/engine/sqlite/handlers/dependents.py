"""What happens to the jobs that wait for another when it completes, fails, or is removed.

Up to STEP dependents are told at once; the rest in later commands (``releases``), so that no command grows with their number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stanchion.engine.sqlite.handlers.ending import cancel_row, fail_row
from stanchion.engine.sqlite.handlers.line import place, stand
from stanchion.engine.sqlite.handlers.rows import SELECT, Row, names, numbers, reread, rows, texts
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.errors import DependencyCircle
from stanchion.records import DependencyPolicy
from stanchion.rules.circles import find_circle
from stanchion.states import State

STEP = 1000
GROUP = "dependency-failed"

SHOWN = 10
"""How many jobs of a circle an error names."""

_DEPENDENTS = SELECT + "JOIN dependencies ON dependencies.job = jobs.id WHERE dependencies.on_job = ?"
# Those whose policy is to wait are not told: they would be found again and again, and hide the others.
_CONCERNED = _DEPENDENTS + " AND on_dependency_failure <> 'wait' LIMIT ?"
_SOME = "SELECT job FROM dependencies WHERE on_job = ? LIMIT ?"
_CUT = "DELETE FROM dependencies WHERE on_job = ? AND job IN (SELECT value FROM json_each(?))"
_FREE = SELECT + (
    "WHERE jobs.id IN (SELECT value FROM json_each(?)) AND state = 'depends'"
    " AND NOT EXISTS (SELECT 1 FROM dependencies WHERE job = jobs.id)"
)
_DEPENDENCIES = (
    "SELECT other.jid FROM jobs JOIN dependencies ON dependencies.job = jobs.id"
    " JOIN jobs AS other ON other.id = dependencies.on_job WHERE jobs.jid = ?"
)
_REST = "SELECT job FROM releases LIMIT ?"


class Other(NamedTuple):
    """A job that another one waits for."""

    id: int
    jid: str
    state: str


def completed(tx: Transaction, row: Row) -> int:
    """The job is complete: those that waited for it no longer do. How many were told."""
    if not row.awaited:
        return 0
    found = [job for (job,) in tx.all(_SOME, row.id, STEP + 1)]
    _release(tx, found[:STEP], row.id)
    if len(found) > STEP:
        _leave_rest(tx, row)
    return len(found)


def lost(tx: Transaction, row: Row) -> int:
    """The job failed or was removed: each dependent's policy says what that means for it, and for its dependents in turn.

    Those of a job that is removed are all told at once: nothing is left that could be come back to. How many were told.
    """
    gone = deque([row])
    told = 0
    while gone:
        cause = gone.popleft()
        if told >= STEP and _is_there(tx, cause):
            _leave_rest(tx, cause)
            continue
        found = rows(tx, _CONCERNED, cause.id, STEP + 1)
        for dependent in found[:STEP]:
            gone.extend(_follow(tx, dependent, cause))
        told += len(found)
        if len(found) > STEP:
            gone.appendleft(cause)
    return told


def go_on(tx: Transaction) -> None:
    """Tell another step of the dependents that were left for later."""
    told = 0
    for (job,) in tx.all(_REST, STEP):
        if told >= STEP:
            break
        told += _tell_rest(tx, job)


def finish(tx: Transaction, row: Row) -> None:
    """Tell all the dependents left, before the job becomes something else."""
    while tx.value("SELECT 1 FROM releases WHERE job = ?", row.id):
        _tell_rest(tx, row.id)


def dependencies_of(tx: Transaction, jid: str) -> tuple[str, ...]:
    """The jids that a job waits for."""
    return tuple(other for (other,) in tx.all(_DEPENDENCIES, jid))


def unfinished(tx: Transaction, jids: Iterable[str], policy: DependencyPolicy) -> list[Other]:
    """Those of the jobs that one with this policy has to wait for: they exist and are not complete (nor failed, for run)."""
    over = {State.COMPLETE, State.FAILED} if policy == "run" else {State.COMPLETE}
    found = tx.all("SELECT id, jid, state FROM jobs WHERE jid IN (SELECT value FROM json_each(?))", texts(jids))
    return [Other(*one) for one in found if one[2] not in over]


def refuse_circle(tx: Transaction, jid: str, on: Iterable[str]) -> None:
    """Refuse that the job waits for others if any of them waits for it already."""

    def depends_of(job: str) -> Iterable[str]:
        return on if job == jid else dependencies_of(tx, job)

    circle = find_circle(jid, depends_of)
    if circle:
        shown = circle if len(circle) <= SHOWN else [*circle[: SHOWN - 2], "…", circle[-1]]
        raise DependencyCircle(jid=jid, circle=" → ".join(shown))


def wait_for(tx: Transaction, job: int, on: Iterable[Other]) -> None:
    """Let a job wait for others."""
    tx.run_many("INSERT OR IGNORE INTO dependencies VALUES (?, ?)", [(job, other.id) for other in on])


def tell_of_failed(tx: Transaction, on: Iterable[Other]) -> None:
    """Apply the policies of new dependents to those of their dependencies that had failed before."""
    for other in on:
        if other.state == State.FAILED:
            lost(tx, reread(tx, other.id))


def release_free(tx: Transaction, jobs: Iterable[int]) -> None:
    """Let those of the jobs that wait for nothing any more come in line: now, or at the time kept for them."""
    for row in rows(tx, _FREE, numbers(jobs)):
        stand(tx, row, place(tx, row.due, depends=False, throttle_ids=names(row.throttles), now=tx.now))


def _leave_rest(tx: Transaction, row: Row) -> None:
    """Leave the dependents that were not told yet to the commands to come."""
    if row.awaited:
        tx.run("INSERT OR IGNORE INTO releases VALUES (?)", row.id)


def _tell_rest(tx: Transaction, job: int) -> int:
    tx.run("DELETE FROM releases WHERE job = ?", job)
    told = 0
    for row in rows(tx, SELECT + "WHERE jobs.id = ?", job):
        if row.state == State.FAILED:
            told += lost(tx, row)
        elif row.state == State.COMPLETE:
            told += completed(tx, row)
    return told


def _is_there(tx: Transaction, row: Row) -> bool:
    return tx.value("SELECT 1 FROM jobs WHERE id = ?", row.id) is not None


def _release(tx: Transaction, jobs: Sequence[int], on_job: int) -> None:
    tx.run(_CUT, on_job, numbers(jobs))
    release_free(tx, jobs)


def _follow(tx: Transaction, dependent: Row, cause: Row) -> list[Row]:
    """Apply the dependent's policy; the jobs whose dependents must be told next."""
    policy = dependent.on_dependency_failure
    if policy == "wait":
        return []
    if policy == "run":
        _release(tx, [dependent.id], cause.id)
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
