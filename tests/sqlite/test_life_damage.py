"""A job whose record is damaged, in every column and by every verb: it can be seen, moved and removed, and hides no other."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from stanchion import commands as c
from stanchion.engine.sqlite.engine import SQLiteEngine
from stanchion.errors import Refused
from tests.spec.rig import spec

pytestmark = pytest.mark.slow

COLUMNS = ("klass", "worker", "tags", "throttles", "history", "failure", "spawned_from")
NOT_UTF8 = "CAST(x'7bff' AS TEXT)"
VERBS: dict[str, Callable[[str], c.Command[Any]]] = {
    "get": c.Get,
    "put": lambda jid: c.Put(jid, jid, "k"),
    "requeue": lambda jid: c.Requeue(jid, jid),
    "unfail": lambda jid: c.Unfail(jid, jid),
    "cancel": lambda jid: c.Cancel((jid,)),
    "pop": lambda jid: c.Pop(jid, "w"),
    "peek": c.Peek,
    "beat": lambda jid: c.Heartbeat(jid, "w"),
    "complete": lambda jid: c.Complete(jid, "w", jid),
    "advance": lambda jid: c.Complete(jid, "w", jid, next="next"),
    "fail": lambda jid: c.Fail(jid, "w", "g", "m"),
    "retry": lambda jid: c.Retry(jid, jid, "w"),
    "timeout": lambda jid: c.Timeout((jid,)),
    "undepend": c.Undepend,
    "priority": lambda jid: c.SetPriority(jid, 1),
    "log": lambda jid: c.Log(jid, "noted"),
    "tag": lambda jid: c.AddTags(jid, ("u",)),
    "untag": lambda jid: c.RemoveTags(jid, ("t",)),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def engine(path: Path) -> Iterator[SQLiteEngine]:
    with SQLiteEngine(f"sqlite:///{path}?durability=fast") as engine:
        yield engine


def damage(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as stranger:
        stranger.execute(sql)
        stranger.commit()


def bring(engine: SQLiteEngine, jid: str, state: str) -> None:
    """Bring a job into a state."""
    depends = ("other",) if state == "depends" else ()
    engine.run(c.Put(jid, jid, "k", tags=["t"], throttles=["th"], depends=depends), now=0)
    if state in ("running", "failed", "stalled", "complete"):
        engine.run(c.Pop(jid, "w"), now=0)
    last = {"failed": c.Fail(jid, "w", jid, "m"), "stalled": c.Timeout((jid,)), "complete": c.Complete(jid, "w", jid)}
    if state in last:
        engine.run(last[state], now=0)


@pytest.mark.slow
@spec("fault.21")
@pytest.mark.parametrize("state", ["waiting", "running", "stalled", "failed", "complete", "depends"])
@pytest.mark.parametrize("text", ["'{'", NOT_UTF8])
def test_no_verb_fails_for_a_damaged_record(engine: SQLiteEngine, path: Path, state: str, text: str) -> None:
    engine.run(c.SetConfig("max-job-history", 2), now=0)  # so that histories are read to be trimmed
    engine.run(c.Put("elsewhere", "other", "k"), now=0)
    for verb in VERBS:
        for column in COLUMNS:
            bring(engine, f"{verb}-{column}", state)
            damage(path, f"UPDATE jobs SET {column} = {text} WHERE jid = '{verb}-{column}'")
    for verb, command in VERBS.items():
        for column in COLUMNS:
            with suppress(Refused):
                engine.run(command(f"{verb}-{column}"), now=1)
    engine.check(fix=True, now=2)
    assert engine.check(now=2) == []


@spec("fault.21")
@pytest.mark.parametrize(
    "sql",
    [
        f"UPDATE payloads SET data = {NOT_UTF8} WHERE job = (SELECT id FROM jobs WHERE jid = 'bad')",
        *(f"UPDATE jobs SET {column} = {NOT_UTF8} WHERE jid = 'bad'" for column in ("klass", "tags", "history", "failure")),
    ],
)
def test_bytes_that_are_no_text_put_their_job_aside(engine: SQLiteEngine, path: Path, sql: str) -> None:
    engine.run(c.PutMany([c.Put("q", jid, "k", tags=["t"]) for jid in ("bad", "good")]), now=0)
    damage(path, sql)
    assert engine.run(c.Get("bad"), now=1) is not None
    assert [job.jid for job in engine.run(c.Pop("q", "w", 5), now=1)] == ["good"]
    bad = engine.run(c.Get("bad"), now=1)
    assert bad is not None
    assert bad.failure is not None
    assert (bad.state, bad.failure.group) == ("failed", "broken-record")


def test_a_damaged_jid_or_queue_hides_no_other_job(engine: SQLiteEngine, path: Path) -> None:
    engine.run(c.PutMany([c.Put("q", jid, "k") for jid in ("bad", "worse", "good")]), now=0)
    damage(path, f"UPDATE jobs SET jid = {NOT_UTF8} WHERE jid = 'bad'")
    damage(path, f"UPDATE jobs SET queue = {NOT_UTF8} WHERE jid = 'worse'")
    assert [job.jid for job in engine.run(c.Pop("q", "w", 5), now=1)] == ["{\ufffd", "good"]
    assert {job.jid for job in engine.dump(now=1).jobs.values()} == {"{\ufffd", "worse", "good"}


def test_a_damaged_job_that_waits_for_a_place_keeps_no_other_from_it(engine: SQLiteEngine, path: Path) -> None:
    engine.run(c.SetThrottle("t", 1), now=0)
    engine.run(c.PutMany([c.Put("q", jid, "k", throttles=["t"]) for jid in ("holder", "bad", "good")]), now=0)
    engine.run(c.Pop("q", "w", 3), now=0)
    damage(path, f"UPDATE jobs SET throttles = {NOT_UTF8} WHERE jid = 'bad'")
    engine.run(c.Complete("holder", "w", "q"), now=1)
    assert [job.jid for job in engine.run(c.Pop("q", "w", 3), now=1)] == ["good"]
