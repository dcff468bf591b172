"""The measures of servers run, at a tiny size, and say what they should."""

from __future__ import annotations

import pytest

from benchmarks.server import calls, lives, longest, page
from benchmarks.server.queues import QUEUES, Ours, old_script
from stanchion.client.open import open_engine
from stanchion.client.script import script_text
from tests.servers import Server

NAMES = list(QUEUES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("batch", [1, 10])
def test_the_cost_of_lives(name: str, batch: int) -> None:
    with Server("valkey") as server, server.client() as client:
        costs = lives.life(client, QUEUES[name](server.url, client), 20, batch)
        assert list(costs) == list(lives.STEPS)
        assert all(cost.microseconds > 0 and cost.calls > 1 for cost in costs.values())


def test_the_cost_of_old_clients_calls() -> None:
    with Server("valkey") as server, server.client() as client:
        found = [calls.costs(client, script, 20) for script in (old_script(), script_text())]
        assert found[0].keys() == found[1].keys()
        assert all(cost > 0 for one in found for cost in one.values())


def test_the_memory_of_waiting_jobs() -> None:
    with Server("valkey") as server, server.client() as client:
        assert 100 < lives.bytes_of_waiting(client, Ours(server.url), 200) < 10_000


@pytest.mark.slow
def test_the_longest_calls() -> None:
    with Server("valkey") as server, open_engine(server.url) as engine, server.client() as client:  # type: ignore[attr-defined]
        found = list(longest.longest_calls(client, engine, 600, 80))
        assert len(found) > 10
        assert all(0 <= duration < 5000 for _, _, duration in found)


def test_a_page() -> None:
    text = page.page([page.Table("A title", ["head", "more"], [["1", "2"]])], 0.5)
    assert "## A title\n\n| head | more |\n| --- | --- |\n| 1 | 2 |\n" in text
