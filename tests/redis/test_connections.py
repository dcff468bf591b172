"""Connections that fall silent, are slow, canceled, or inherited; and nobody but the plan repeats anything."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from stanchion import commands as c
from stanchion.client.open import open_async_engine, open_engine
from stanchion.engine.redis.url import parse
from stanchion.engine.redis.wire import AsyncWire, Wire
from stanchion.errors import OutcomeUnknown, StoreUnavailable
from tests.redis.cutting import CuttingProxy
from tests.redis.proxy import Proxy
from tests.servers import SHARED, Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    yield SHARED.get("valkey")
    SHARED.remove()


def through(proxy: Any, **options: Any) -> str:
    """The URL of a fresh namespace behind a proxy."""
    url = SHARED.url("valkey").replace(str(SHARED.get("valkey").port), str(proxy.port))
    return url + "".join(f"&{name}={value}" for name, value in options.items())


def puts_seen(server: Server, during: Any) -> list[str]:
    """The calls of put that reach the server meanwhile."""
    with server.client() as client, client.monitor() as monitor:
        during()
        client.echo("that is all")
        seen = []
        for heard in monitor.listen():
            if "that is all" in heard["command"]:
                return seen
            seen += [heard["command"]] if heard["command"].startswith("FCALL stanchion_v1_put ") else []
    raise AssertionError("the monitor ended")


@pytest.mark.parametrize(
    "url", ["redis://h", "rediss://h", "unix:///tmp/s", "redis+cluster://h?namespace={a}:", "redis+sentinel://h/main"]
)
def test_no_pool_repeats(url: str) -> None:
    location = parse(url)
    assert Wire(location)._new_pool(("h", 1)).make_connection().retry._retries == 0

    async def main() -> None:
        pool = await AsyncWire(location)._new_pool(("h", 1))
        assert pool.make_connection().retry._retries == 0

    asyncio.run(main())


def test_one_call_for_each_attempt(server: Server) -> None:
    with CuttingProxy(server.port) as proxy, open_engine(through(proxy)) as engine:  # type: ignore[attr-defined]
        engine.run(c.Length("q"))
        proxy.cut_reply(0)
        seen = puts_seen(server, lambda: engine.run(c.Put("q", "a", "k")))
    assert len(seen) == 2
    assert len(set(seen)) == 1  # the token is the same


@pytest.mark.parametrize("silence", ["silent", "silent_replies"])
def test_silence_ends_in_time(server: Server, silence: str) -> None:
    with Proxy(server.port) as proxy, open_engine(through(proxy, timeout=0.5)) as engine:  # type: ignore[attr-defined]
        engine.run(c.Length("q"))
        setattr(proxy, silence, True)
        for expected in (OutcomeUnknown, StoreUnavailable):  # later connections cannot even be made
            start = time.monotonic()
            with pytest.raises(expected):
                engine.run(c.Put("q", "a", "k"))
            assert time.monotonic() - start < 2
        setattr(proxy, silence, False)
        assert engine.run(c.Put("q", "b", "k")) == "b"


def test_silence_ends_in_time_awaited(server: Server) -> None:
    async def main() -> None:
        with Proxy(server.port) as proxy:
            async with open_async_engine(through(proxy, timeout=0.5)) as engine:
                await engine.run(c.Length("q"))
                proxy.silent = True
                for expected in (OutcomeUnknown, StoreUnavailable):
                    start = time.monotonic()
                    with pytest.raises(expected):
                        await engine.run(c.Put("q", "a", "k"))
                    assert time.monotonic() - start < 2
                proxy.silent = False
                assert await engine.run(c.Put("q", "b", "k")) == "b"

    asyncio.run(main())


def test_a_byte_at_a_time(server: Server) -> None:
    with Proxy(server.port) as proxy:
        proxy.slice = 1
        with open_engine(through(proxy)) as engine:  # type: ignore[attr-defined]
            outcomes = engine.run_many([c.Put("q", f"j{number}", "k", '"éé"') for number in range(20)])
            assert [outcome.reply for outcome in outcomes] == [f"j{number}" for number in range(20)]
            assert [job.data for job in engine.run(c.Pop("q", "w", 20))] == ['"éé"'] * 20


@pytest.mark.parametrize("refusal", ["memory", "permission"])
def test_a_repeat_that_the_server_refuses_may_have_happened(server: Server, refusal: str) -> None:
    with server.client() as admin, CuttingProxy(server.port) as proxy:
        admin.execute_command("ACL", "SETUSER", "eva", "on", ">pass", "~*", "&*", "+@all")
        url = through(proxy).replace("redis://", "redis://eva:pass@")
        with open_engine(url) as engine:  # type: ignore[attr-defined]
            engine.run(c.Length("q"))
            proxy.cut_reply(0)
            proxy.at_cut = lambda: (
                admin.config_set("maxmemory", 1)
                if refusal == "memory"
                else admin.execute_command("ACL", "SETUSER", "eva", "off")
            )
            try:
                with pytest.raises(OutcomeUnknown):
                    engine.run(c.Put("q", "a", "k"))
            finally:
                admin.config_set("maxmemory", 0)
                admin.execute_command("ACL", "SETUSER", "eva", "on")
            assert engine.run(c.Get("a")).jid == "a"


def test_canceled_at_any_await(server: Server) -> None:
    async def main() -> None:
        async with open_async_engine(SHARED.url("valkey")) as engine:
            await engine.run(c.PutMany([c.Put("q", f"j{number}", "k", f"{number}") for number in range(10)]))
            for steps in range(25):
                task = asyncio.create_task(engine.run(c.Log("j0", "noted")))
                for _ in range(steps):
                    await asyncio.sleep(0)
                task.cancel()
                answers = await asyncio.gather(*[engine.run(c.Get(f"j{number}")) for number in range(10)])
                assert [answer.data for answer in answers] == [f"{number}" for number in range(10)]

    asyncio.run(main())


FORKING = """
import os, sys
from stanchion import commands as c
from stanchion.client.open import open_engine

engine = open_engine(sys.argv[1])
for name in ("parent", "child"):
    engine.run(c.Put("q", name, "k", f'"{name}"'))
child = os.fork()
name = "parent" if child else "child"
ok = all(engine.run(c.Get(name)).data == f'"{name}"' for _ in range(300))
if child:
    ok = os.waitpid(child, 0)[1] == 0 and ok
os._exit(0 if ok else 1)
"""


def test_a_forked_child_has_connections_of_its_own(server: Server) -> None:
    subprocess.run([sys.executable, "-c", FORKING, SHARED.url("valkey")], check=True, timeout=30)
