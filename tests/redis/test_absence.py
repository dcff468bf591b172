"""A server that was away for longer than locks last: the living renew theirs before anything is handed over."""

from __future__ import annotations

import time

from stanchion import commands as c
from stanchion.client.open import open_engine
from tests.servers import KEPT, Server

HEARTBEAT = 0.6
ABSENCE = 1.5  # longer than locks last, and than the second that the clock is kept for


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


def test_the_locks_of_the_queue_count_not_the_longest() -> None:
    with Server("valkey") as server, open_engine(server.url) as engine:  # type: ignore[attr-defined]
        engine.run(c.SetConfig("grace-period", 0))
        engine.run(c.SetConfig("q-heartbeat", HEARTBEAT))
        engine.run(c.Put("q", "a", "k"))
        engine.run(c.Pop("q", "living"))
        time.sleep(ABSENCE)
        assert engine.run(c.Pop("q", "other")) == ()
        assert engine.wait(["q"], 10.0), "one who sleeps is told when it will be due"
        assert [job.jid for job in engine.run(c.Pop("q", "other"))] == ["a"]


def test_a_lock_that_had_lapsed_before_is_handed_over_at_once() -> None:
    with Server("valkey") as server, open_engine(server.url) as engine:  # type: ignore[attr-defined]
        engine.run(c.SetConfig("grace-period", 0))
        engine.run(c.PutMany([c.Put("q", jid, "k") for jid in ("late", "early")]))
        engine.run(c.SetConfig("heartbeat", 1.0))
        engine.run(c.Pop("q", "living"))
        engine.run(c.SetConfig("heartbeat", 0.1))
        engine.run(c.Pop("q", "dead"))
        time.sleep(0.2)
        engine.run(c.SetConfig("heartbeat", 1.0))
        time.sleep(ABSENCE)
        assert [job.jid for job in engine.run(c.Pop("q", "other", 2))] == ["early"]
