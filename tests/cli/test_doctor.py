"""``stanchion doctor``: healthy only when nothing is wrong."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stanchion.cli import main
from stanchion.cli.exits import FOUND, USAGE
from stanchion.client.sync.client import Client
from stanchion.engine.sqlite import diagnosis


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.db"
    with Client(f"sqlite:///{path}") as client:
        client.queues["q"].put("k", jid="a", tags=["t"])
        client.queues["q"].put("k", jid="b", delay=100)
        client.queues["idle"].put("k", jid="c")
        client.queues["idle"].pause()
    return path


def doctor(url: Path | str, *options: str) -> Result:
    return CliRunner().invoke(main, ["doctor", url if isinstance(url, str) else f"sqlite:///{url}", *options])


def report(url: Path | str) -> Any:
    return json.loads(doctor(url, "--json").stdout)


def codes(url: Path | str, *, wrong: bool = True) -> set[str]:
    return {one["code"] for one in report(url)["advice"] if one["wrong"] == wrong}


def test_a_healthy_file(path: Path) -> None:
    result = doctor(path)
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "healthy")
    told = report(path)
    assert told["healthy"] is True
    assert {name: count for name, count in told["totals"].items() if count} == {
        **{"queues": 2, "paused": 1, "waiting": 2, "scheduled": 1},
    }
    facts = told["facts"]
    assert (facts["journal mode"], facts["durability"], facts["path"]) == ("wal", "full", str(path))
    assert facts["bytes of the file"] == os.path.getsize(path)
    assert codes(path) == set()


def test_findings(path: Path) -> None:
    stranger = sqlite3.connect(path)
    stranger.execute("DELETE FROM tags")
    stranger.commit()
    stranger.close()
    result = doctor(path)
    assert result.exit_code == FOUND
    assert "fsck --repair" in result.stdout
    assert codes(path) == {"unsound"}
    CliRunner().invoke(main, ["--url", f"sqlite:///{path}", "fsck", "--repair"])
    assert codes(path) == set()


def test_little_space_and_a_long_log(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "LEAST_FREE", 10**18)
    monkeypatch.setattr(diagnosis, "_LATE_WAL", -1)
    assert codes(path) == {"disk-nearly-full", "long-log"}


def test_a_store_that_cannot_be_used_is_told_of(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE t (x)")
    other.close()
    assert codes(tmp_path / "other.db") == {"not-a-queue-file"}
    (tmp_path / "text.db").write_text("no database at all" * 100)
    assert codes(tmp_path / "text.db") == {"not-a-queue-file"}
    assert codes(tmp_path / "nowhere" / "jobs.db") == {"read-only-store"}
    assert doctor("gopher://x").exit_code == USAGE


def test_in_memory() -> None:
    assert report("sqlite://")["healthy"] is True


def test_a_server_that_is_away(tmp_path: Path) -> None:
    result = doctor(f"unix://:secret@{tmp_path}/nobody")
    assert result.exit_code == FOUND
    assert "store-unavailable" in result.stdout
    assert "secret" not in result.stdout
