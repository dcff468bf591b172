"""``stanchion script``: the text for old clients, and a server that has it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from stanchion.cli import main
from stanchion.cli.exits import USAGE
from stanchion.client.script import load_script, script_text
from stanchion.errors import BadURL
from tests.servers import Server, old_binaries


def test_both_dialects_are_one_text() -> None:
    texts = {CliRunner().invoke(main, ["script", *words]).stdout for words in ([], ["qless"], ["reqless"])}
    assert texts == {script_text()}
    assert CliRunner().invoke(main, ["script", "resque"]).exit_code == USAGE


@pytest.mark.parametrize("kind", ["valkey", *old_binaries()])
def test_a_server_is_given_it(kind: str) -> None:
    with Server(kind) as server, server.client() as client:
        told = CliRunner().invoke(main, ["script", "--load", f"{server.url}/0"])
        assert client.script_exists(told.stdout.strip()) == [True]
        assert client.evalsha(told.stdout.strip(), 0, "length", 1, "q") == 0


def test_a_file_takes_no_script(tmp_path: Path) -> None:
    with pytest.raises(BadURL, match="only Redis and Valkey"):
        load_script(f"sqlite:///{tmp_path}/jobs.db")
