"""What can be wrong in a database: what every engine's state is checked for, and what only tables can have."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from stanchion.engine.contract import Finding
from stanchion.engine.invariants import check
from stanchion.engine.sqlite.dump import dump
from stanchion.engine.sqlite.handlers.configuration import read_option
from stanchion.engine.sqlite.handlers.recurring import Template
from stanchion.engine.sqlite.handlers.rows import SELECT_WHOLE, checked_names, problem, unreadable, wholes
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.rules.jsontext import json_problem
from stanchion.states import State

DAMAGED = "damaged"
"""The code of what SQLite itself finds wrong: pages and indexes."""


class Stray(NamedTuple):
    """Rows that belong to nothing: what they are, and where."""

    code: str
    message: str
    where: str


STRAYS = (
    *(
        Stray(
            f"stray-{table}",
            f"belong to no job (rows of table {table})",
            f"{table} WHERE job NOT IN (SELECT id FROM jobs)",
        )
        for table in ("payloads", "tags", "dependencies", "throttle_jobs", "releases")
    ),
    Stray(
        "stray-dependency",
        "are dependencies of jobs that wait for none, or on jobs that are gone",
        "dependencies WHERE on_job NOT IN (SELECT id FROM jobs) OR job NOT IN (SELECT id FROM jobs WHERE state = 'depends')",
    ),
    Stray(
        "stray-place",
        "are held in throttles by jobs that do not run",
        "throttle_jobs WHERE held_since IS NOT NULL AND job NOT IN (SELECT id FROM jobs WHERE state = 'running')",
    ),
    Stray(
        "stray-release",
        "tell the dependents of jobs that are neither complete nor failed",
        "releases WHERE job NOT IN (SELECT id FROM jobs WHERE state IN ('complete', 'failed'))",
    ),
)

UNTOLD = """SELECT DISTINCT other.id, other.jid FROM dependencies JOIN jobs ON jobs.id = dependencies.job
    JOIN jobs AS other ON other.id = dependencies.on_job WHERE other.id NOT IN (SELECT job FROM releases)
    AND (other.state = 'complete' OR (other.state = 'failed' AND jobs.on_dependency_failure <> 'wait'))"""
"""Jobs that are over, whose dependents wait all the same, and that are not on the list of those to be told."""

LINE = """(SELECT CASE state WHEN 'throttled' THEN 1 WHEN 'waiting' THEN 2 ELSE 0 END, queue, priority, ready_at, seq
    FROM jobs WHERE id = throttle_jobs.job)"""
"""What throttles should have noted of a job's place in the line."""

_OUT_OF_LINE = f"""SELECT job, throttle FROM throttle_jobs WHERE (line, queue, priority, ready_at, seq) NOT IN {LINE}
    AND (line > 0 OR job IN (SELECT id FROM jobs WHERE state IN ('throttled', 'waiting')))"""

UNKNOWN = (
    f"state NOT IN ({', '.join(repr(str(state)) for state in State)})"
    " OR on_dependency_failure NOT IN ('wait', 'run', 'fail', 'cancel')"
)
COMPLETE = "SELECT count(*) FROM jobs WHERE state = 'complete'"
HIGHEST = (
    "SELECT max((SELECT coalesce(max(seq), 0) FROM jobs), (SELECT coalesce(max(number), 0) FROM tags),"
    " (SELECT coalesce(max(number), 0) FROM queues), (SELECT coalesce(max(number), 0) FROM tracked))"
)


def inspect(tx: Transaction) -> list[Finding]:
    """Everything that is wrong; nothing is changed. In a damaged file only the damage: nothing else can be trusted."""
    damage = _damage(tx)
    if damage:
        return damage
    unknown = list(_unknown(tx))
    own = [*_strays(tx), *_out_of_line(tx), *_untold(tx), *_broken(tx), *_templates(tx), *_options(tx), *_counters(tx)]
    # A record in no state at all cannot be shown; with it, the whole state cannot either.
    return [*unknown, *own] if unknown else [*own, *check(dump(tx))]


def lists_readable(texts: Iterable[str]) -> bool:
    """Is each of the texts a JSON list of names?"""
    try:
        return all(isinstance(checked_names(text), tuple) for text in texts)
    except msgspec.MsgspecError:
        return False


def _damage(tx: Transaction) -> list[Finding]:
    try:
        return [Finding(DAMAGED, "file", text) for (text,) in tx.all("PRAGMA integrity_check(20)") if text != "ok"]
    except sqlite3.DatabaseError as error:  # some damage stops the look at it
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        return [Finding(DAMAGED, "file", str(error))]


def _strays(tx: Transaction) -> Iterator[Finding]:
    for stray in STRAYS:
        count = tx.value(f"SELECT count(*) FROM {stray.where}")
        if count:
            yield Finding(stray.code, str(count), stray.message)


def _out_of_line(tx: Transaction) -> Iterator[Finding]:
    for job, throttle in tx.all(_OUT_OF_LINE):
        jid = tx.value("SELECT jid FROM jobs WHERE id = ?", job) or str(job)
        yield Finding("out-of-line", jid, f"is in another place of the line than throttle {throttle} has noted")


def _unknown(tx: Transaction) -> Iterator[Finding]:
    for jid, state, policy in tx.all(f"SELECT jid, state, on_dependency_failure FROM jobs WHERE {UNKNOWN}"):
        yield Finding("unknown-state", jid, f"is in the state {state!r}, with the policy {policy!r}")


def _untold(tx: Transaction) -> Iterator[Finding]:
    for _, jid in tx.all(UNTOLD):
        yield Finding("untold-dependents", jid, "is over, but its dependents were not told")


def _broken(tx: Transaction) -> Iterator[Finding]:
    for job in wholes(tx, SELECT_WHOLE):
        over = job.row.state in (State.FAILED, State.COMPLETE)
        wrong = problem(job)
        if wrong and not over:
            yield Finding("broken-record", job.row.jid, wrong)
        elif unreadable(job.row):
            yield Finding("unreadable-record", job.row.jid, "has columns that are not JSON")


def _templates(tx: Transaction) -> Iterator[Finding]:
    for row in tx.all("SELECT * FROM recurring"):
        template = Template._make(row)
        if not lists_readable((template.tags, template.throttles)):
            yield Finding("broken-template", template.jid, "has tags or throttles that cannot be read")
        if json_problem(template.data):
            yield Finding("broken-template-data", template.jid, f"has data that {json_problem(template.data)}")


def _options(tx: Transaction) -> Iterator[Finding]:
    for option, value in tx.all("SELECT option, value FROM config"):
        if read_option(option, value) is None:
            yield Finding("broken-option", option, f"has a value that cannot be read: {value!r:.100}")


def _counters(tx: Transaction) -> Iterator[Finding]:
    kept, counted = tx.value("SELECT count FROM tallies WHERE name = 'complete'"), tx.value(COMPLETE)
    if kept != counted:
        yield Finding("tally", "complete", f"is kept as {kept}, but there are {counted}")
    last, highest = tx.last_number, tx.value(HIGHEST)
    if last < highest:
        yield Finding("counter", "number", f"stands at {last}, but {highest} was given out")
