"""Calls stay short however many jobs there are: what the server did is counted."""

from __future__ import annotations

from stanchion import commands as c
from stanchion.client.open import open_engine
from tests.servers import NOTHING_KEPT, Server

MANY = 1000


def test_many_that_fail_at_one_time_are_listed_with_few_questions() -> None:
    jids = [f"j{number}" for number in range(MANY)]
    with Server("valkey", *NOTHING_KEPT) as server, open_engine(server.url) as engine, server.client() as client:  # type: ignore[attr-defined]
        engine.run_many([c.Put("q", jid, "k") for jid in jids], now=1)
        engine.run(c.Pop("q", "w", MANY), now=2)
        client.config_resetstat()
        # In the order of puts backwards, each comes behind all others.
        failing = jids[::-2] + jids[::2]
        engine.run_many([c.Fail(jid, "w", "g", "m") for jid in failing], now=3)
        asked = client.info("commandstats")["cmdstat_lindex"]["calls"]
        page = engine.run(c.Failed("g", 0, MANY))
    assert asked < 25 * MANY
    assert list(page.jobs) == jids[::-1]
