"""A cluster of two nodes: whichever is asked, the one that has the keys answers; while they move, calls wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from stanchion import commands as c
from stanchion.client.open import open_engine
from tests.servers import NOTHING_KEPT, Server, free_port

SLOTS = 16384


@pytest.fixture
def nodes() -> Iterator[tuple[Server, Server]]:
    """Two nodes that know each other, each with half of the slots."""

    def node() -> Server:
        return Server("valkey", *NOTHING_KEPT, "--cluster-enabled", "yes", "--cluster-port", str(free_port()))

    with node() as first, node() as second:
        for one, slots in ((first, (0, SLOTS // 2 - 1)), (second, (SLOTS // 2, SLOTS - 1))):
            with one.client() as client:
                client.execute_command("CLUSTER", "ADDSLOTSRANGE", *slots)
        with first.client() as client:
            bus = int(second.options[-1])
            client.execute_command("CLUSTER", "MEET", "127.0.0.1", second.port, bus)
        for one in (first, second):
            one.until(lambda client: client.cluster("INFO")["cluster_state"] == "ok")
        yield first, second


def owner(first: Server, second: Server) -> tuple[Server, Server, int]:
    """The node that has the slot of our keys, the other, and the slot."""
    with first.client() as client:
        slot = client.cluster("KEYSLOT", "{ql}:")
    return (first, second, slot) if slot < SLOTS // 2 else (second, first, slot)


def works(engine: Any, jid: str) -> None:
    engine.run(c.Put("q", jid, "k"))
    assert [job.jid for job in engine.run(c.Pop("q", "w"))] == [jid]
    assert engine.run(c.Complete(jid, "w", "q")) == "complete"


def test_any_node_may_be_named(nodes: tuple[Server, Server]) -> None:
    for number, node in enumerate(nodes):
        with open_engine(f"redis+cluster://127.0.0.1:{node.port}") as engine:  # type: ignore[attr-defined]
            works(engine, f"j{number}")
            assert len(engine.dump().jobs) == number + 1


def test_a_plain_url_with_a_hash_tag_follows_too(nodes: tuple[Server, Server]) -> None:
    _, other, _ = owner(*nodes)
    with open_engine(f"{other.url}?namespace={{ql}}:") as engine:  # type: ignore[attr-defined]
        works(engine, "a")


def test_calls_wait_while_the_keys_move(nodes: tuple[Server, Server]) -> None:
    source, target, slot = owner(*nodes)
    with open_engine(f"redis+cluster://127.0.0.1:{source.port}") as engine:  # type: ignore[attr-defined]
        engine.run(c.PutMany([c.Put("q", f"j{number}", "k") for number in range(50)]))
        with source.client() as old, target.client() as new:
            names = old.cluster("MYID").decode(), new.cluster("MYID").decode()
            new.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", names[0])
            old.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", names[1])
            put = threading.Thread(target=engine.run, args=(c.Put("q", "meanwhile", "k"),))
            put.start()
            while keys := old.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 20):
                old.execute_command("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)
            for client in (new, old):
                client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", names[1])
            put.join(20)
        assert not put.is_alive()
        assert engine.run(c.Length("q")) == 51
        assert engine.check() == []
