"""What the doctor says of a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion import commands as c
from stanchion.client.open import open_async_engine, open_engine
from stanchion.engine.contract import Diagnosis
from stanchion.engine.redis import diagnosis
from stanchion.engine.redis.diagnosis import diagnose
from stanchion.engine.redis.url import parse
from tests.redis.keys import Keys

URL = "redis://test"


@pytest.fixture
def server(keys: Keys) -> Iterator[Keys]:
    """A server whose settings are as they were, afterwards."""
    yield keys
    for setting, value in {"appendonly": "no", "maxmemory": "0", "maxmemory-policy": "noeviction"}.items():
        keys.redis.config_set(setting, value)


def look(keys: Keys) -> Diagnosis:
    return keys.talk(diagnose(parse(f"{URL}?namespace={keys.namespace}")))


def codes(keys: Keys, *, wrong: bool = True) -> set[str]:
    """What is said, but for how fast the server answers: this machine may have other things to do."""
    return {one.code for one in look(keys).advice if one.wrong == wrong} - {"slow"}


def test_a_server_without_persistence_is_not_well(server: Keys) -> None:
    assert codes(server) == {"no-append-only-file"}
    server.redis.config_set("appendonly", "yes")
    assert codes(server) == set()
    assert codes(server, wrong=False) == {"fsync-everysec"}


def test_the_facts(server: Keys) -> None:
    server.redis.delete("ql:x:tokens:m1")
    server.call(c.PutMany(tuple(c.Put("q", f"j{number}", "k", tags=("t",)) for number in range(50))))
    facts = look(server).facts
    assert facts["server"].startswith("valkey 9.")
    assert (facts["role"], facts["eviction policy"], facts["memory limit"]) == ("master", "noeviction", "none")
    assert facts["ping, 99 % within"].endswith(" ms")
    assert facts["function library"].endswith(")")
    assert facts["memory of job"].endswith(" bytes in 50 keys")
    assert facts["memory of tagged"].endswith(" bytes in 1 keys")
    assert int(facts["memory of job"].split()[1].replace(",", "")) > 50 * 50


def test_eviction_and_full_memory(server: Keys) -> None:
    server.redis.config_set("appendonly", "yes")
    server.redis.config_set("maxmemory-policy", "allkeys-lru")
    server.redis.config_set("maxmemory", "1gb")
    assert codes(server) == {"evicting-server"}
    server.redis.config_set("maxmemory-policy", "noeviction")
    server.redis.config_set("maxmemory", str(int(server.redis.info("memory")["used_memory"] * 1.1)))
    assert codes(server) == {"memory-nearly-full"}


def test_slowness_and_clocks(server: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    server.redis.config_set("appendonly", "yes")
    monkeypatch.setattr(diagnosis, "SLOW", 0.0)
    monkeypatch.setattr(diagnosis, "CLOCKS_APART", -1.0)
    monkeypatch.setattr(diagnosis, "VERSION", 0)
    assert codes(server) == {"clocks-apart"}
    assert "slow" in {one.code for one in look(server).advice}
    assert "newer-library" in codes(server, wrong=False)


def test_callers_that_await_are_told_the_same(socket: Path) -> None:
    url = f"unix://{socket}"

    async def awaited() -> Diagnosis:
        async with open_async_engine(url) as engine:  # type: ignore[attr-defined]
            return await engine.diagnose()  # type: ignore[no-any-return]

    with open_engine(url) as engine:  # type: ignore[attr-defined]
        assert asyncio.run(awaited()).facts.keys() == engine.diagnose().facts.keys()
