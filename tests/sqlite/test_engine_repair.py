"""fsck: what the checker finds in a database that was tampered with, and what it mends."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from stanchion import commands as c
from stanchion.engine.sqlite.engine import SQLiteEngine

pytestmark = pytest.mark.slow

NOW = 1_700_000_000.0
DAY = NOW // 86400 * 86400


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with a job in every state, and one of everything else."""
    path = tmp_path / "jobs.db"
    with SQLiteEngine(f"sqlite:///{path}") as engine:
        engine.run(c.SetThrottle("narrow", 1), now=NOW)
        engine.run(c.Put("q", "running", "K", tags=("red",), throttles=("narrow",), priority=9), now=NOW)
        engine.run(c.Put("q", "throttled", "K", throttles=("narrow",), priority=8), now=NOW)
        engine.run(c.Put("q", "complete", "K", priority=7), now=NOW)
        engine.run(c.Put("q", "failed", "K", priority=6), now=NOW)
        assert len(engine.run(c.Pop("q", "worker", 3), now=NOW)) == 3
        engine.run(c.Complete("complete", "worker", "q"), now=NOW)
        engine.run(c.Fail("failed", "worker", "oops", "it broke"), now=NOW)
        engine.run(c.Put("q", "waiting", "K", tags=("red", "green")), now=NOW)
        engine.run(c.Put("q", "depends", "K", depends=("waiting",)), now=NOW)
        engine.run(c.Put("q", "scheduled", "K", delay=60), now=NOW)
        engine.run(c.Recur("q", "template", "K", "{}", 60.0, tags=("blue",)), now=NOW)
        engine.run(c.SetConfig("heartbeat", 30), now=NOW)
        assert engine.check(now=NOW) == []
    return path


def tamper(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema = ON")
    connection.executescript(sql)
    connection.close()


def check(path: Path, *, fix: bool) -> set[tuple[str, str, bool]]:
    with SQLiteEngine(f"sqlite:///{path}") as engine:
        return {(one.code, one.subject, one.mended) for one in engine.check(fix=fix, now=NOW)}


def of(jid: str) -> str:
    return f"(SELECT id FROM jobs WHERE jid = '{jid}')"


MENDABLE = {
    "tag without a job": ("INSERT INTO tags VALUES ('x', 999, 1)", "stray-tags"),
    "payload without a job": ("INSERT INTO payloads VALUES (999, '{}', NULL)", "stray-payloads"),
    "dependency on nothing": (f"INSERT INTO dependencies VALUES ({of('depends')}, 999)", "stray-dependency"),
    "dependency of a waiting job": (
        f"INSERT INTO dependencies VALUES ({of('waiting')}, {of('scheduled')})",
        "stray-dependency",
    ),
    "its only dependency lost": ("DELETE FROM dependencies", "depends-by-state"),
    "dependents never told": (f"UPDATE dependencies SET on_job = {of('complete')}", "untold-dependents"),
    "place of a waiting job": (
        f"INSERT INTO throttle_jobs VALUES ('narrow', {of('waiting')}, 5, 0, 'q', 0, 0, 0)",
        "stray-place",
    ),
    "throttle's note lost": (f"DELETE FROM throttle_jobs WHERE job = {of('throttled')}", "missing-throttle"),
    "throttle's note old": ("UPDATE throttle_jobs SET priority = 5 WHERE line = 1", "out-of-line"),
    "throttle's note of a running job": ("UPDATE throttle_jobs SET line = 2 WHERE line = 0", "out-of-line"),
    "release of a waiting job": (f"INSERT INTO releases VALUES ({of('waiting')})", "stray-release"),
    "index of tags short": ("DELETE FROM tags WHERE tag = 'green'", "missing-tag"),
    "index of tags long": (f"INSERT INTO tags VALUES ('x', {of('waiting')}, 1)", "stray-tag"),
    "worker of a waiting job": ("UPDATE jobs SET worker = 'w' WHERE jid = 'waiting'", "worker-by-state"),
    "running for nobody": ("UPDATE jobs SET worker = '' WHERE jid = 'running'", "worker-by-state"),
    "lock without an end": ("UPDATE jobs SET expires = 0 WHERE jid = 'running'", "expiry-by-state"),
    "grace of a waiting job": ("UPDATE jobs SET grace = 1 WHERE jid = 'waiting'", "grace-by-state"),
    "complete in a queue": ("UPDATE jobs SET queue = 'q' WHERE jid = 'complete'", "queue-by-state"),
    "waiting with a due time": ("UPDATE jobs SET due = 5 WHERE jid = 'waiting'", "due-by-state"),
    "too many retries left": ("UPDATE jobs SET remaining = 9 WHERE jid = 'waiting'", "remaining"),
    "failed in the wrong group": ("UPDATE jobs SET failure_group = 'x' WHERE jid = 'failed'", "stray-group"),
    "failure lost": ("UPDATE jobs SET failure = NULL WHERE jid = 'failed'", "stray-group"),
    "throttled by none": ("UPDATE jobs SET throttles = '[]' WHERE jid = 'throttled'", "throttled-by-none"),
    "data changed": ("UPDATE payloads SET data = '[1]' WHERE job = " + of("waiting"), "broken-record"),
    "data lost": ("DELETE FROM payloads WHERE job = " + of("scheduled"), "broken-record"),
    "tags no JSON": ("UPDATE jobs SET tags = '[' WHERE jid = 'running'", "broken-record"),
    "history no JSON": ("UPDATE jobs SET history = '{' WHERE jid = 'complete'", "unreadable-record"),
    "failure no JSON": ("UPDATE jobs SET failure = '{' WHERE jid = 'failed'", "unreadable-record"),
    "no such state": ("UPDATE jobs SET state = 'lost' WHERE jid = 'waiting'", "unknown-state"),
    "no such policy": (
        "UPDATE jobs SET on_dependency_failure = 'weep' WHERE jid = 'depends'",
        "unknown-state",
    ),
    "template's tags no JSON": ("UPDATE recurring SET tags = '['", "broken-template"),
    "option no number": ("UPDATE config SET value = '\"x\"'", "broken-option"),
    "option no JSON": ("UPDATE config SET value = '{'", "broken-option"),
    "tally off": ("UPDATE tallies SET count = 7", "tally"),
    "counter set back": ("UPDATE engine SET number = 0", "counter"),
    "count of failed off": ("UPDATE stats SET failed = 7", "failed-count"),
}


@pytest.mark.parametrize(("sql", "code"), MENDABLE.values(), ids=MENDABLE.keys())
def test_what_is_wrong_is_found_and_mended(path: Path, sql: str, code: str) -> None:
    tamper(path, sql)
    assert code in {found for found, _, _ in check(path, fix=False)}
    mended = check(path, fix=True)
    assert code in {found for found, _, _ in mended}
    assert {was_mended for _, _, was_mended in mended} == {True}
    assert check(path, fix=False) == set()


def test_looking_changes_nothing(path: Path) -> None:
    tamper(path, "UPDATE tallies SET count = 7; DELETE FROM tags")
    assert check(path, fix=False) == check(path, fix=False) != set()


def test_what_only_a_guess_could_mend_is_left_and_said_so(path: Path) -> None:
    tamper(path, f"INSERT INTO dependencies VALUES ({of('depends')}, {of('depends')})")
    tamper(path, "UPDATE recurring SET data = '['")
    found = {("circle", "depends", False), ("broken-template-data", "template", False)}
    assert check(path, fix=True) == found
    assert check(path, fix=False) == found


def test_untold_dependents_are_told_by_the_commands_that_follow(path: Path) -> None:
    tamper(path, f"UPDATE dependencies SET on_job = {of('complete')}")
    assert check(path, fix=True) == {("untold-dependents", "complete", True)}
    with SQLiteEngine(f"sqlite:///{path}") as engine:
        assert "depends" in {job.jid for job in engine.run(c.Pop("q", "worker", 9), now=NOW)}


def test_a_job_that_is_set_aside_says_why(path: Path) -> None:
    tamper(path, "UPDATE jobs SET state = 'lost' WHERE jid = 'waiting'")
    check(path, fix=True)
    with SQLiteEngine(f"sqlite:///{path}") as engine:
        job = engine.run(c.Get("waiting"), now=NOW)
        assert job is not None
        assert job.failure is not None
        assert (job.failure.group, "'lost'" in job.failure.message) == ("broken-record", True)


def test_a_damaged_index_is_made_again(path: Path) -> None:
    # The index is told that it holds another column, so that its entries are wrong.
    sql = "(queue, priority DESC, seq, ready_at) WHERE state = ''waiting''"
    tamper(path, f"UPDATE sqlite_schema SET sql = 'CREATE INDEX jobs_line ON jobs {sql}' WHERE name = 'jobs_line'")
    assert {code for code, _, _ in check(path, fix=False)} == {"damaged"}
    assert {code for code, _, mended in check(path, fix=True) if mended} == {"damaged"}
    assert check(path, fix=False) == set()


def test_a_damaged_table_is_found_and_nothing_is_touched(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'payloads'").fetchone()
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\0" * 4096)
    before = path.read_bytes()
    assert {(code, mended) for code, _, mended in check(path, fix=True)} == {("damaged", False)}
    assert path.read_bytes() == before


def test_a_broken_option_and_a_broken_template_stop_no_queue(path: Path) -> None:
    tamper(path, "UPDATE config SET value = '{'; UPDATE recurring SET tags = '[', throttles = '['")
    with SQLiteEngine(f"sqlite:///{path}") as engine:
        popped = engine.run(c.Pop("q", "worker", 9), now=NOW)
        assert {"waiting", "template-1"} <= {job.jid for job in popped}
        assert {job.expires for job in popped} == {NOW + 60}
