"""A server that was away for longer than locks last: the living renew theirs before anything is handed over."""

from __future__ import annotations

import time

from stanchion import commands as c
from stanchion.client.open import open_engine
from tests.servers import KEPT, Server

HEARTBEAT = 0.6


def test_the_living_keep_their_jobs() -> None:
    with Server("valkey", *KEPT) as server, open_engine(server.url) as engine:  # type: ignore[attr-defined]
        engine.run(c.SetConfig("heartbeat", HEARTBEAT))
        engine.run(c.SetConfig("grace-period", 0))
        engine.run(c.PutMany([c.Put("q", f"j{number}", "k") for number in range(20)]))
        held = engine.run(c.Pop("q", "living", 20))
        server.kill()
        time.sleep(3 * HEARTBEAT)  # it is the absence itself that is tried
        server.start()
        assert engine.run(c.Pop("q", "other", 20)) == ()
        for job in held:
            assert engine.run(c.Heartbeat(job.jid, "living", attempt=job.attempt)) > time.time()
        assert engine.run(c.Pop("q", "other", 20)) == ()
        assert engine.run(c.Counts("q")).running == 20


def test_the_dead_lose_theirs_all_the_same() -> None:
    with Server("valkey", *KEPT) as server, open_engine(server.url) as engine:  # type: ignore[attr-defined]
        engine.run(c.SetConfig("heartbeat", HEARTBEAT))
        engine.run(c.SetConfig("grace-period", 0))
        engine.run(c.Put("q", "a", "k"))
        engine.run(c.Pop("q", "dead"))
        server.kill()
        time.sleep(2 * HEARTBEAT)
        server.start()
        deadline = time.monotonic() + 10
        while not engine.run(c.Pop("q", "other")):
            assert engine.wait(["q"], 1.0) or time.monotonic() < deadline
        assert engine.run(c.Get("a")).worker == "other"
