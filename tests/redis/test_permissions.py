"""The user that is shipped for workers: all that the queue does, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from stanchion import commands as c
from stanchion.client.open import open_engine
from stanchion.commands import VOCABULARY
from stanchion.engine.redis import library
from stanchion.errors import OutcomeUnknown, StoreForbids
from tests.redis.test_lost_replies import COMMANDS, FILLING
from tests.servers import Server

FILE = Path(library.__file__).with_name("worker.acl")

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("tracked", "tags", "queues", "failures", "workers", "throttles", "config.all"), ()),
    "multiget": (("a",),),
    "jobs": ("complete",),
}
"""Of commands that read; those of the others are one name."""

READS = {name: kind(*ARGUMENTS.get(name, ("a",))) for name, kind in VOCABULARY.items() if kind.reads}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server("valkey") as server:
        let_in(server)
        yield server


def let_in(server: Server) -> None:
    """Make the user that the file describes."""
    words = FILE.read_text().splitlines()[-1].split()[1:]
    with server.client() as client:
        client.execute_command("ACL", "SETUSER", *[word.replace("CHANGE-ME", "pass") for word in words])


def url(server: Server, **options: str) -> str:
    return f"redis://stanchion:pass@127.0.0.1:{server.port}?" + "&".join(f"{key}={value}" for key, value in options.items())


def test_somebody_else_must_load_the_library() -> None:
    with Server("valkey") as server:
        let_in(server)
        with pytest.raises(StoreForbids) as caught:
            open_engine(url(server)).run(c.Put("q", "a", "k"))
        assert "set" in str(caught.value)


def test_all_that_the_queue_does(server: Server) -> None:
    with open_engine(server.url) as admin:  # type: ignore[attr-defined]
        admin.run(c.Length("q"))
    with open_engine(url(server)) as engine:  # type: ignore[attr-defined]
        for command in FILLING:
            engine.run(command, now=1000.0)
        with engine.subscribe(["log"]) as events:
            engine.run(c.Put("q", "heard", "k"), now=1000.0)
            assert events.get(1) is not None
        outcomes = engine.run_many([*READS.values(), *COMMANDS.values()], now=1001.0)
        # Some find nothing to do, since those before have done it; none may be forbidden.
        assert {StoreForbids, OutcomeUnknown}.isdisjoint(type(one.error) for one in outcomes)
        assert not engine.wait(["empty"], 0.05)
        assert engine.check() == []
        assert engine.dump().jobs
    assert {*READS, *COMMANDS} == set(VOCABULARY)


@pytest.mark.parametrize(
    "command",
    [
        ("EVAL", "return 1", 0),
        ("FUNCTION", "LOAD", "REPLACE", "#!lua name=x\nredis.register_function('x', function() return 1 end)"),
        ("FUNCTION", "FLUSH"),
        ("CONFIG", "SET", "maxmemory-policy", "allkeys-lru"),
        ("FLUSHALL",),
        ("KEYS", "*"),
        ("SHUTDOWN", "NOSAVE"),
        ("ACL", "LIST"),
        ("SCRIPT", "LOAD", "return 1"),
        ("DEBUG", "SLEEP", "0"),
        ("HSET", "another:key", "f", "1"),
        ("PUBLISH", "another:channel", "m"),
        ("REPLICAOF", "NO", "ONE"),
    ],
    ids=lambda command: command[0],
)
def test_nothing_else(server: Server, command: tuple[Any, ...]) -> None:
    client = redis.Redis(port=server.port, username="stanchion", password="pass")
    with client, pytest.raises(redis.exceptions.NoPermissionError):
        client.execute_command(*command)


def test_no_other_namespace(server: Server) -> None:
    with open_engine(server.url) as admin:  # type: ignore[attr-defined]
        admin.run(c.Length("q"))
    with pytest.raises(StoreForbids):
        open_engine(url(server, namespace="other:")).run(c.Put("q", "a", "k"))
