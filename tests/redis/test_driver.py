"""What a driver has to stand besides lost answers: odd names, outages, many sleepers, users who may not."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from stanchion import commands as c
from stanchion.client.open import open_async_engine, open_engine
from stanchion.errors import BadURL, JobNotFound, OutcomeUnknown, StoreForbids, StoreUnavailable
from tests.redis.cutting import CuttingProxy
from tests.servers import KEPT, NOTHING_KEPT, Server, free_port


@pytest.mark.parametrize(
    "jid", ["Function not found", "invalid password", "max number of clients reached", "LOADING", "OOM x"]
)
def test_a_name_is_not_taken_for_the_server_s_words(jid: str) -> None:
    with Server("valkey") as server, open_engine(server.url) as engine:  # type: ignore[attr-defined]
        with pytest.raises(JobNotFound) as caught:
            engine.run(c.Complete(jid, "w", "q"))
        assert caught.value.details == {"jid": jid}


@pytest.mark.parametrize("url", ["redis://u:hunter2@h/x", "redis://u@h?password=hunter2&timeout=x", "redis://[::1"])
def test_no_message_shows_a_password(url: str) -> None:
    with pytest.raises(BadURL) as caught:
        open_engine(url)
    assert "hunter2" not in str(caught.value)


def test_an_encoded_password_is_not_shown() -> None:
    engine = open_engine(f"redis://u:s3%2Fc%3At@127.0.0.1:{free_port()}?timeout=0.2")
    with pytest.raises(StoreUnavailable) as caught:
        engine.run(c.Length("q"))
    assert "s3" not in str(caught.value)


def test_nobody_to_listen_to() -> None:
    with pytest.raises(StoreUnavailable):
        open_engine(f"redis://127.0.0.1:{free_port()}?timeout=0.2").subscribe(["log"])


def test_a_subscription_outlives_an_outage() -> None:
    with Server("valkey", *KEPT) as server:
        engine = open_engine(server.url)
        events = engine.subscribe(["log"])
        engine.run(c.Put("q", "a", "k"))
        assert events.get(1) is not None
        server.kill()
        assert events.get(0.5) is None
        server.start()
        deadline = time.monotonic() + 10
        while events.get(0.1) is None:
            engine.run(c.Put("q", "b", "k"))
            assert time.monotonic() < deadline
        events.close()
        engine.close()


def test_a_subscription_outlives_an_outage_awaited() -> None:
    async def main(server: Server) -> None:
        async with open_async_engine(server.url) as engine, await engine.subscribe(["*"]) as events:
            await engine.run(c.Put("q", "a", "k"))
            assert await events.get(1) is not None
            server.kill()
            assert await events.get(0.5) is None
            server.start()
            deadline = time.monotonic() + 10
            while await events.get(0.1) is None:
                await engine.run(c.Put("q", "b", "k"))
                assert time.monotonic() < deadline

    with Server("valkey", *KEPT) as server:
        asyncio.run(main(server))


def test_many_sleepers_leave_room_for_calls() -> None:
    with Server("valkey") as server, open_engine(server.url) as engine, ThreadPoolExecutor(130) as threads:  # type: ignore[attr-defined]
        sleepers = [threads.submit(engine.wait, ["q"], 5.0) for _ in range(130)]
        server.until(lambda client: client.info("clients")["blocked_clients"] == 130)
        engine.run(c.PutMany([c.Put("q", f"j{number}", "k") for number in range(130)]))
        assert all(sleeper.result() for sleeper in sleepers)


def test_who_may_not_load_the_library_does_not_stop_who_may() -> None:
    with Server("valkey") as server, server.client() as client:
        client.execute_command("ACL", "SETUSER", "ada", "on", "nopass", "~*", "&*", "+@all", "-function")
        with pytest.raises(StoreForbids):
            open_engine(f"redis://ada:x@127.0.0.1:{server.port}").run(c.Length("q"))
        assert open_engine(f"{server.url}?timeout=1").run(c.Length("q")) == 0


@pytest.mark.parametrize("kind", ["valkey"])
def test_a_repeat_waits_for_replicas_too(kind: str) -> None:
    with Server(kind) as primary, CuttingProxy(primary.port) as way:
        options = (*NOTHING_KEPT, "--replicaof", "127.0.0.1", str(way.port), "--repl-timeout", "60")
        with Server(kind, *options) as replica, replica.client() as second:
            replica.until(lambda client: client.info("replication")["master_link_status"] == "up")
            way.close()
            second.execute_command("REPLICAOF", "NO", "ONE")  # it hears nothing any more
            url = f"{primary.url}?durability=replicas&timeout=1"
            for _ in range(2):
                with pytest.raises(OutcomeUnknown):
                    open_engine(url).run(c.Put("q", "a", "k"), token="mine")
