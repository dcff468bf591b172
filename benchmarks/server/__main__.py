"""The command line: measures, tables, and ``docs/benchmarks-redis.md``."""

from __future__ import annotations

import os
import statistics
from pathlib import Path
from typing import Any

import click

from benchmarks.server import page
from benchmarks.server.calls import costs
from benchmarks.server.lives import STEPS, bytes_of_waiting, life
from benchmarks.server.longest import longest_calls
from benchmarks.server.queues import QUEUES, old_script
from stanchion.client.open import open_engine
from stanchion.client.script import script_text
from tests.servers import Server, binaries

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks-redis.md"


@click.command()
@click.option("--quick", is_flag=True, help="A twentieth of the jobs: a look, not a measurement.")
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True)
@click.option("--write-docs", is_flag=True, help="Write docs/benchmarks-redis.md from this run.")
def main(quick: bool, repeats: int, write_docs: bool) -> None:
    """Measure what a server pays for the queue. All of it takes about half an hour; --quick some minutes."""
    scale = 20 if quick else 1
    tables = [
        *(_lives(kind, batch, 10_000 // scale, repeats) for kind in sorted(binaries()) for batch in (1, 100)),
        *(_calls(kind, 1_000 // scale, repeats) for kind in sorted(binaries())),
        _memory(100_000 // scale),
        _longest(1_000_000 // scale, 100_000 // scale),
    ]
    text = page.page(tables, os.getloadavg()[0])
    click.echo(text)
    if write_docs:
        PAGE.write_text(text)


def _lives(kind: str, batch: int, jobs: int, repeats: int) -> page.Table:
    """Both in turns, so that noise hits both alike."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in QUEUES}
    version = ""
    with Server(kind) as server, server.client() as client:
        version = client.info("server").get("valkey_version") or client.info("server")["redis_version"]
        for _ in range(repeats):
            for name, make in QUEUES.items():
                client.flushall()
                found[name].append(life(client, make(server.url, client), jobs, batch))
    totals = {name: [sum(run[step].microseconds for step in STEPS) for run in runs] for name, runs in found.items()}
    rows = [
        [
            name,
            *(_spread([run[step].microseconds for run in runs]) for step in STEPS),
            _spread(totals[name]),
            f"{sum(runs[0][step].calls for step in STEPS):.0f}",
        ]
        for name, runs in found.items()
    ]
    ratio = statistics.median(totals["Qless script"]) / statistics.median(totals["Stanchion"])
    how = "one by one" if batch == 1 else f"{batch} at once"
    title = f"{kind.capitalize()} {version}, {how}: the old script takes {ratio:.2f} times as long"
    return page.Table(title, ["µs of the server for each job", *STEPS, "all three", "inner calls"], rows)


def _calls(kind: str, count: int, repeats: int) -> page.Table:
    """Both in turns."""
    scripts = {"the Qless script": old_script(), "ours": script_text()}
    found: dict[str, list[dict[str, float]]] = {name: [] for name in scripts}
    with Server(kind) as server, server.client() as client:
        for _ in range(repeats):
            for name, script in scripts.items():
                found[name].append(costs(client, script, count))
    rows = []
    for title in found["ours"][0]:
        old, ours = ([run[title] for run in runs] for runs in found.values())
        rows.append([title, _spread(old), _spread(ours), f"{statistics.median(ours) / statistics.median(old):.2f}"])
    return page.Table(f"Calls of old clients ({kind.capitalize()})", ["µs of the server for each", *found, "ratio"], rows)


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):.0f} ({min(values):.0f}–{max(values):.0f})"


def _memory(jobs: int) -> page.Table:
    rows = []
    for name, make in QUEUES.items():
        cells = []
        for kind in sorted(binaries()):
            with Server(kind) as server, server.client() as client:
                queue = make(server.url, client)
                queue.put(100)
                cells.append(f"{bytes_of_waiting(client, queue, jobs):.0f}")
        rows.append([name, *cells])
    return page.Table(f"Memory: {jobs:,} waiting jobs of 100 bytes", ["bytes for each job", *sorted(binaries())], rows)


def _longest(jobs: int, dependents: int) -> page.Table:
    with Server("valkey") as server, open_engine(server.url) as engine, server.client() as client:  # type: ignore[attr-defined]
        found = longest_calls(client, engine, jobs, dependents)
        rows = [[title, function, f"{duration:.1f}"] for title, function, duration in found]
    return page.Table(f"The longest calls, with up to {jobs:,} jobs waiting (Valkey)", ["while", "function", "ms"], rows)


if __name__ == "__main__":
    main()
