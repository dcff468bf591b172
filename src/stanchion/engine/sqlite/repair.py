"""What can be wrong in a database, and how it is mended: never by a guess, only by making what is derived agree again."""

from __future__ import annotations

from typing import NamedTuple

from stanchion.engine.contract import Finding
from stanchion.engine.invariants import check
from stanchion.engine.sqlite.dump import dump
from stanchion.engine.sqlite.handlers import dependents, tags, throttles
from stanchion.engine.sqlite.handlers.rows import SELECT, names, problem, rows
from stanchion.engine.sqlite.handlers.taking import set_aside
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.states import State


class _Stray(NamedTuple):
    """Rows that belong to nothing: what they are, and where."""

    code: str
    message: str
    where: str


_STRAYS = (
    *(
        _Stray(
            f"stray-{table}",
            f"belongs to no job (table {table})",
            f"{table} WHERE job NOT IN (SELECT id FROM jobs)",
        )
        for table in ("payloads", "tags", "dependencies", "throttle_jobs", "releases")
    ),
    _Stray(
        "stray-dependency",
        "is a dependency of a job that waits for none, or on one that is gone",
        "dependencies WHERE on_job NOT IN (SELECT id FROM jobs) OR job NOT IN (SELECT id FROM jobs WHERE state = 'depends')",
    ),
    _Stray(
        "stray-place",
        "is held in a throttle by a job that does not run",
        "throttle_jobs WHERE held_since IS NOT NULL AND job NOT IN (SELECT id FROM jobs WHERE state = 'running')",
    ),
)
_TALLY = "SELECT count(*) FROM jobs WHERE state = 'complete'"


def inspect(tx: Transaction) -> list[Finding]:
    """Everything that is wrong; nothing is changed."""
    strays = [Finding(stray.code, str(count), stray.message) for stray in _STRAYS if (count := _count(tx, stray))]
    return [*_damage(tx), *strays, *_broken(tx), *_tally(tx), *check(dump(tx))]


def mend(tx: Transaction) -> list[Finding]:
    """Everything that was wrong, mended as far as that can be: what is left is found again."""
    before = inspect(tx)
    if before:
        _mend(tx)
    left = {(finding.code, finding.subject) for finding in inspect(tx)}
    return [_with_mended(finding, (finding.code, finding.subject) not in left) for finding in before]


def _mend(tx: Transaction) -> None:
    for stray in _STRAYS:
        tx.run(f"DELETE FROM {stray.where}")
    for row in rows(tx, SELECT + "WHERE state NOT IN ('failed', 'complete')"):
        if problem(row):
            set_aside(tx, row)
    for row in rows(tx, SELECT):
        _realign(tx, row.id, names(row.tags), names(row.throttles), row.state)
    for row in rows(tx, SELECT + "WHERE state = 'depends'"):
        dependents.release_if_free(tx, row)
    for (throttle,) in tx.all("SELECT DISTINCT throttle FROM throttle_jobs"):
        throttles.let_in(tx, throttle)
    tx.run(f"UPDATE tallies SET count = ({_TALLY}) WHERE name = 'complete'")


def _realign(tx: Transaction, job: int, own_tags: tuple[str, ...], own_throttles: tuple[str, ...], state: str) -> None:
    tags.retag(tx, job, own_tags)
    if state == State.COMPLETE:
        return
    noted = {name for (name,) in tx.all("SELECT throttle FROM throttle_jobs WHERE job = ?", job)}
    if noted != set(own_throttles):
        throttles.join(tx, job, own_throttles)
        if state == State.RUNNING:
            throttles.take_places(tx, job)


def _damage(tx: Transaction) -> list[Finding]:
    """What SQLite itself finds: pages and indexes. It cannot be mended here; restore a copy, or dump and load it."""
    return [Finding("damaged", "file", text) for (text,) in tx.all("PRAGMA integrity_check(20)") if text != "ok"]


def _broken(tx: Transaction) -> list[Finding]:
    found = []
    for row in rows(tx, SELECT + "WHERE state NOT IN ('failed', 'complete')"):
        wrong = problem(row)
        if wrong:
            found.append(Finding("broken-record", row.jid, wrong))
    return found


def _tally(tx: Transaction) -> list[Finding]:
    kept, counted = tx.value("SELECT count FROM tallies WHERE name = 'complete'"), tx.value(_TALLY)
    return [] if kept == counted else [Finding("tally", "complete", f"is kept as {kept}, but there are {counted}")]


def _count(tx: Transaction, stray: _Stray) -> int:
    return int(tx.value(f"SELECT count(*) FROM {stray.where}"))


def _with_mended(finding: Finding, mended: bool) -> Finding:
    return Finding(finding.code, finding.subject, finding.message, mended)
