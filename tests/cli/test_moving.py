"""``stanchion migrate``: from store to store, also after it was killed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from stanchion import commands as c
from stanchion.cli import main
from stanchion.cli.exits import REFUSED
from stanchion.client.open import open_engine
from stanchion.client.sync.client import Client
from stanchion.engine.contract import AS_KEPT, MARK


def urls(folder: Path) -> tuple[str, str]:
    return f"sqlite:///{folder}/own.db?durability=fast", f"sqlite:///{folder}/other.db?durability=fast"


def test_a_move(tmp_path: Path) -> None:
    own, other = urls(tmp_path)
    with Client(own) as client:
        client.queues["q"].put("k", jid="a", tags=["t"])
        client.queues["q"].recur("k", interval=60, jid="r")
    result = CliRunner().invoke(main, ["migrate", own, other], catch_exceptions=False)
    assert "jobs: 1, recurring jobs: 1" in result.stdout
    again = CliRunner().invoke(main, ["migrate", own, other, "--json"], catch_exceptions=False)
    assert json.loads(again.stdout)["jobs"] == 1
    with Client(other) as client:
        assert client.tags.page("t").jobs == ("a",)
        client.queues["q"].put("k", jid="b")
    refused = CliRunner().invoke(main, ["migrate", own, other])
    assert refused.exit_code == REFUSED
    assert "the target is not empty" in refused.stderr


@pytest.mark.slow
def test_a_move_that_was_killed_goes_on(tmp_path: Path) -> None:
    own, other = urls(tmp_path)
    with Client(own) as client:
        client.put_many([client.queues["q"].new("k", jid=f"j{number}", tags=["t"]) for number in range(6000)])
    running = subprocess.Popen([sys.executable, "-m", "stanchion", "migrate", own, other])
    with Client(other) as target:
        while not (target.config.get(MARK) or " 0").partition(" ")[2] > "1":
            assert running.poll() is None
            time.sleep(0.005)
        running.kill()
        running.wait()
        assert 0 < target.queues["q"].length() < 6000
        assert target.queues["q"].counts().paused
    moved = CliRunner().invoke(main, ["migrate", own, other, "--json"], catch_exceptions=False)
    assert json.loads(moved.stdout)["resumed"] is True
    source, target_engine = open_engine(own), open_engine(other)
    try:
        assert target_engine.dump(now=AS_KEPT) == source.dump(now=AS_KEPT)
        assert target_engine.check() == []
        assert target_engine.run(c.GetConfig(MARK)) is None
    finally:
        source.close()
        target_engine.close()
