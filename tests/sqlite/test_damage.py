"""Broken records, as a disk, a bug or a stranger with the file might leave them: others flow, and fsck mends."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stanchion import commands as c
from stanchion.client.open import open_engine
from stanchion.engine.contract import Engine
from tests.spec.rig import spec

pytestmark = pytest.mark.slow

DAMAGE = [
    "DELETE FROM payloads WHERE job = (SELECT id FROM jobs WHERE jid = 'bad')",
    "UPDATE payloads SET data = '{\"x\":2}' WHERE job = (SELECT id FROM jobs WHERE jid = 'bad')",
    "UPDATE payloads SET data = 'garbage' WHERE job = (SELECT id FROM jobs WHERE jid = 'bad')",
    "UPDATE jobs SET klass = 'other' WHERE jid = 'bad'",
    "UPDATE jobs SET tags = '{' WHERE jid = 'bad'",
    "UPDATE jobs SET tags = '[1]' WHERE jid = 'bad'",
    "UPDATE jobs SET throttles = 'x' WHERE jid = 'bad'",
    "UPDATE jobs SET throttles = 'null' WHERE jid = 'bad'",
    "UPDATE jobs SET history = 'x' WHERE jid = 'bad'",
    "UPDATE jobs SET history = '1,2' WHERE jid = 'bad'",
    "UPDATE jobs SET failure = 'x' WHERE jid = 'bad'",
    "UPDATE jobs SET checksum = 0 WHERE jid = 'bad'",
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    engine = open_engine(f"sqlite:///{path}?durability=fast")
    yield engine
    engine.close()


def damage(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as stranger:
        stranger.execute(sql)
        stranger.commit()


@spec("fault.21")
@pytest.mark.parametrize("sql", DAMAGE)
@pytest.mark.parametrize("where", ["waiting", "lapsed"])
def test_a_broken_record_is_put_aside_and_the_others_flow(engine: Engine, path: Path, sql: str, where: str) -> None:
    engine.run(c.Put("q", "bad", "k", '{"x":1}', tags=["t"], throttles=["th"]), now=0)
    if where == "lapsed":
        engine.run(c.Pop("q", "gone"), now=0)
    for jid in ("good-1", "good-2"):
        engine.run(c.Put("q", jid, "k"), now=1)
    damage(path, sql)
    assert engine.run(c.Get("bad"), now=2) is not None
    assert [job.jid for job in engine.run(c.Pop("q", "w", 5), now=100)] == ["good-1", "good-2"]
    job = engine.run(c.Get("bad"), now=100)
    assert job is not None
    assert job.failure is not None
    assert (job.state, job.failure.group, bool(job.failure.message)) == ("failed", "broken-record", True)
    assert engine.check(fix=True, now=100) is not None
    assert engine.check(now=100) == []


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM tags",
        "INSERT INTO tags VALUES ('stray', 1, 99), ('stray', 77, 100)",
        "DELETE FROM dependencies",
        "INSERT INTO dependencies VALUES (1, 77), (99, 1)",
        "DELETE FROM jobs WHERE jid = 'parent'",
        "DELETE FROM jobs WHERE jid = 'held'",
        "UPDATE tallies SET count = 5",
        "UPDATE throttle_jobs SET held_since = 1",
        "DELETE FROM throttle_jobs",
        "INSERT INTO payloads VALUES (99, '{}', NULL)",
    ],
)
def test_fsck_finds_and_mends(engine: Engine, path: Path, sql: str) -> None:
    engine.run(c.SetThrottle("th", 1), now=0)
    engine.run(c.Put("q", "held", "k", throttles=["th"]), now=0)
    engine.run(c.Pop("q", "w"), now=0)
    engine.run(c.Put("q", "parent", "k", tags=["t"], throttles=["th"]), now=0)
    engine.run(c.Put("q", "child", "k", depends=["parent"], tags=["t"]), now=0)
    assert engine.check(now=1) == []
    damage(path, sql)
    found = engine.check(now=1)
    assert found
    assert not any(finding.mended for finding in found)
    assert all(finding.mended for finding in engine.check(fix=True, now=1))
    assert engine.check(now=1) == []


@pytest.mark.slow
@spec("guarantee.at-least-once")
def test_an_acknowledged_put_outlives_its_process(path: Path) -> None:
    code = f"""
import os, signal
from stanchion import Client
client = Client("sqlite:///{path}")
for n in range(20):
    print(client.queues["q"].put("k", jid=str(n)), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert process.returncode == -signal.SIGKILL
    acknowledged = process.stdout.split()
    assert len(acknowledged) == 20
    engine = open_engine(f"sqlite:///{path}")
    assert [job.jid for job in engine.run(c.Pop("q", "w", 99))] == acknowledged
    engine.close()
