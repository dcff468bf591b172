"""What servers do to us: they refuse, are read-only, run out of memory, forget the library, evict, have another version."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

import pytest

from stanchion import commands as c
from stanchion.client.open import open_engine
from stanchion.engine.redis import library, plan, startup
from stanchion.engine.redis.url import parse
from stanchion.errors import (
    EvictingServer,
    NewerLibrary,
    OldServer,
    Refused,
    Retryable,
    StoreForbids,
    StoreFull,
    StoreUnavailable,
)
from tests.redis.test_lost_replies import COMMANDS, FILLING
from tests.servers import KEPT, NOTHING_KEPT, Server, free_port

BIG = '"' + "x" * 20_000 + '"'


def fill_up(engine: Any) -> int:
    """Put until the server takes no more; how many it took."""
    for number in count():
        try:
            engine.run(c.Put("q", f"j{number}", "k", BIG))
        except StoreFull:
            break
    return number


def test_out_of_memory_puts_are_refused_and_work_goes_on() -> None:
    with Server("valkey") as server, open_engine(server.url) as engine, server.client() as client:  # type: ignore[attr-defined]
        used = client.info("memory")["used_memory"]
        client.config_set("maxmemory", used + 2_000_000)
        put = fill_up(engine)
        with pytest.raises(StoreFull):
            engine.run(c.PutMany([c.Put("q", "more", "k", BIG)]))
        assert put > 10
        first, second, third = engine.run(c.Pop("q", "w", 3))
        assert engine.run(c.Heartbeat(first.jid, "w")) > 0
        assert engine.run(c.Complete(first.jid, "w", "q")) == "complete"
        assert engine.run(c.Fail(second.jid, "w", "g", "m")) == second.jid
        assert engine.run(c.Retry(third.jid, "q", "w")) == 4
        assert len(engine.run(c.Cancel(tuple(f"j{n}" for n in range(put))))) == put
        assert engine.run(c.Put("q", "again", "k", BIG)) == "again"
        assert engine.check() == []


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_a_server_that_evicts_is_refused(policy: str) -> None:
    with Server("valkey", *NOTHING_KEPT, "--maxmemory-policy", policy) as server:
        with pytest.raises(EvictingServer) as caught:
            open_engine(server.url).run(c.Put("q", "a", "k"))
        assert policy in str(caught.value)


def test_a_policy_that_is_changed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "CHECK_POLICY_EVERY", 0.0)
    with Server("valkey") as server, open_engine(server.url) as engine, server.client() as client:  # type: ignore[attr-defined]
        engine.run(c.Put("q", "a", "k"))
        client.config_set("maxmemory-policy", "allkeys-random")
        with pytest.raises(EvictingServer):
            engine.run(c.Put("q", "b", "k"))
        client.config_set("maxmemory-policy", "noeviction")
        assert engine.run(c.Put("q", "b", "k")) == "b"


@pytest.mark.parametrize(
    ("product", "version", "good"),
    [
        ("redis", "6.2.14", False),
        ("redis", "7.0.15", True),
        ("redis", "8.2.1", True),
        ("valkey", "7.2.4", True),
        ("valkey", "7.0.0", False),
        ("redis", "unstable", True),
    ],
)
def test_old_servers_are_refused(product: str, version: str, good: bool) -> None:
    found = startup.refusal(startup.Facts(product, version, "noeviction"), parse("redis://h"))
    assert (found is None) == good
    assert good or isinstance(found, OldServer)


def test_what_has_no_functions_can_be_used_through_the_script() -> None:
    def found(version: str, face: str) -> Any:
        return startup.refusal(startup.Facts("redis", version, "noeviction"), parse(f"redis://h?face={face}"))

    assert found("6.0.16", "script") is None
    assert "?face=script" in str(found("6.0.16", "library"))
    assert "?face=script" not in str(found("5.0.14", "library"))
    assert isinstance(found("5.0.14", "script"), OldServer)


def test_what_would_be_lost_is_said() -> None:
    def codes(**facts: Any) -> list[str]:
        return [concern.code for concern in startup.concerns(startup.Facts("redis", "7.4", "noeviction")._replace(**facts))]

    assert codes(appends=True, fsync="always") == []
    assert codes(appends=True, fsync="everysec") == ["fsync-everysec"]
    assert codes(appends=False, saves=True) == ["no-append-only-file"]
    assert codes(appends=True, fsync="always", policy=None) == ["policy-unknown"]


def test_a_library_that_is_flushed_is_loaded_again() -> None:
    with Server("valkey") as server, open_engine(server.url) as engine, server.client() as client:  # type: ignore[attr-defined]
        for number in range(5):
            engine.run(c.Put("q", f"a{number}", "k"))
            client.execute_command("FUNCTION", "FLUSH")
        outcomes = engine.run_many([c.Put("q", f"b{number}", "k") for number in range(5)])
        assert [outcome.error for outcome in outcomes] == [None] * 5
        assert engine.run(c.Length("q")) == 10


def version(number: int, without: str = "") -> str:
    """The library's text as another version has it."""
    text = re.sub(r"return \d+ end,\n  flags", f"return {number} end,\n  flags", library.text())
    return re.sub(rf"register\('{without}'[^\n]*\n", "", text) if without else text


def test_an_older_library_is_replaced_and_a_newer_one_is_not() -> None:
    with Server("valkey") as server, server.client() as client:
        for number, expected in ((library.VERSION - 1, library.VERSION), (library.VERSION + 1, library.VERSION + 1)):
            client.function_load(version(number), replace=True)
            with open_engine(server.url) as engine:  # type: ignore[attr-defined]
                assert engine.run(c.Put("q", "a", "k")) == "a"
            assert client.execute_command("FCALL_RO", library.VERSION_FUNCTION, 0) == expected


def test_a_newer_library_without_a_function_is_named() -> None:
    with Server("valkey") as server, server.client() as client:
        client.function_load(version(library.VERSION + 1, without="counts"), replace=True)
        with open_engine(server.url) as engine, pytest.raises(NewerLibrary) as caught:  # type: ignore[attr-defined]
            engine.run(c.Counts("q"))
        assert "stanchion_v1_counts" in str(caught.value)


def test_another_major_version_is_left_alone() -> None:
    with Server("valkey") as server, server.client() as client:
        client.function_load(library.text().replace("stanchion_v1", "stanchion_v0"))
        with open_engine(server.url) as engine:  # type: ignore[attr-defined]
            engine.run(c.Put("q", "a", "k"))
        names = {client.function_list()[index][1] for index in range(2)}
        assert names == {b"stanchion_v0", b"stanchion_v1"}


def test_a_primary_that_became_a_replica_refuses_in_time() -> None:
    with Server("valkey") as server, server.client() as client:
        engine = open_engine(f"{server.url}?timeout=0.5")
        engine.run(c.Put("q", "a", "k"))
        client.execute_command("REPLICAOF", "127.0.0.1", free_port())
        with pytest.raises(StoreUnavailable):
            engine.run(c.Put("q", "b", "k"))
        client.execute_command("REPLICAOF", "NO", "ONE")
        assert engine.run(c.Put("q", "b", "k")) == "b"


def test_a_server_that_loads_its_data_is_waited_for() -> None:
    with Server("valkey", *KEPT, "--key-load-delay", "2000") as server, open_engine(server.url) as engine:  # type: ignore[attr-defined]
        engine.run(c.PutMany([c.Put("q", f"j{number}", "k", BIG) for number in range(200)]))
        server.kill()
        server.start(wait=False)
        assert engine.run(c.Length("q")) == 200


def test_replicas_that_are_missing_are_waited_for() -> None:
    with Server("valkey", *NOTHING_KEPT, "--min-replicas-to-write", "1") as server, pytest.raises(Retryable):
        open_engine(f"{server.url}?timeout=0.5").run(c.Put("q", "a", "k"))


def test_a_missing_permission_is_named() -> None:
    with Server("valkey") as server, server.client() as client, open_engine(server.url) as engine:  # type: ignore[attr-defined]
        engine.run(c.Put("q", "a", "k"))
        client.execute_command("ACL", "SETUSER", "ada", "on", "nopass", "~*", "&*", "+@all", "-hset")
        with pytest.raises(StoreForbids) as caught:
            open_engine(f"redis://ada:x@127.0.0.1:{server.port}").run(c.Put("q", "b", "k"))
        assert "+hset" in str(caught.value)
        client.execute_command("ACL", "SETUSER", "ada", "-fcall")
        with pytest.raises(StoreForbids) as caught:
            open_engine(f"redis://ada:x@127.0.0.1:{server.port}").run(c.Put("q", "b", "k"))
        assert "fcall" in str(caught.value)


def test_no_key_ever_has_a_time_to_live() -> None:
    with Server("valkey") as server, open_engine(server.url) as engine, server.client() as client:  # type: ignore[attr-defined]
        for command in (*FILLING, *COMMANDS.values()):
            try:
                engine.run(command)
            except Refused:
                continue
        keys = client.keys("*")
        assert len(keys) > 20
        assert {client.ttl(key) for key in keys} == {-1}
