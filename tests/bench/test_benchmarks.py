"""The benchmarks run, count, and compare rightly. Nothing here is timed."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import docs_page
from benchmarks.contestants import NAMES, load
from benchmarks.contestants.contract import DURABILITIES, Contestant, Data, Site
from benchmarks.contestants.stanchion import Stanchion
from benchmarks.machine import Machine
from benchmarks.measures import MEASURES
from benchmarks.measures.contract import Measure, Series, Sizes
from benchmarks.results import Results
from benchmarks.runner import run_all
from benchmarks.tables import best_peer, series_tables, summary_table

TINY = Sizes(puts=16, bulk_puts=20, pops=16, batched_pops=20, drained=10, pickups=2, idle_seconds=0.1)
MACHINE = Machine("A CPU", 2, "3.11", "3.40", "ext4", 100.0, "Linux", {})
SPEED = Series("speed", "Speed")
DELAY = Series("delay", "Delay", "ms", lower_is_better=True)


def contestant(name: str) -> type[Contestant]:
    try:
        return load(name)
    except ModuleNotFoundError as error:
        pytest.skip(f"{error.name} is not installed: it comes with the bench extra")


def results() -> Results:
    return Results(MACHINE, repeats=1, sizes=Sizes()._asdict())


def told(message: str) -> None:
    assert message


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_measure_of_a_contestant_gives_a_number(name: str, tmp_path: Path) -> None:
    kind, found = contestant(name), results()
    run_all(MEASURES, {name: kind}, TINY, found, tmp_path, told)
    assert found.failures() == []
    expected = {
        (series.name, durability, name)
        for measure in MEASURES
        if measure.needs not in kind.facts.lacks
        for durability in measure.durabilities(kind)
        for series in measure.series
    }
    assert {key for key, cell in found.cells.items() if len(cell.values) == 1} == expected


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize("name", NAMES)
def test_a_contestant_syncs_as_its_durability_says(name: str, durability: str, tmp_path: Path) -> None:
    kind = contestant(name)
    if durability not in kind.facts.durabilities():
        pytest.skip("not shown at this durability")
    open_one = kind(Site(tmp_path, "durable" if durability == "durable" else "fast"))
    expected = {"durable": 2, "fast": 0 if name == "huey-nosync" else 1}
    assert open_one.synchronous() == expected[durability]
    open_one.close()


class Forgetful(Stanchion):
    """Loses one job in three."""

    def put(self, data: Data) -> None:
        if data["n"] % 3:
            super().put(data)


def test_a_run_that_loses_a_job_gives_no_number(tmp_path: Path) -> None:
    found = results()
    run_all(MEASURES[:1], {"forgetful": Forgetful}, TINY, found, tmp_path, told)
    cell = found.cell("put", "durable", "forgetful")
    assert cell.values == []
    assert cell.failures == ["BrokenRun: jobs left: 10, not 16"]


class AtMostOnce(Stanchion):
    """A peer that needs to settle nothing."""

    facts = Stanchion.facts._replace(title="Careless", is_peer=True, at_most_once=True)


class AtLeastOnce(Stanchion):
    """A peer that settles."""

    facts = Stanchion.facts._replace(title="Careful", is_peer=True)


class Unequal(Stanchion):
    """One that is weaker than what its column says."""

    facts = Stanchion.facts._replace(title="Unequal")


KINDS: dict[str, type[Contestant]] = {
    "stanchion": Stanchion,
    "careless": AtMostOnce,
    "careful": AtLeastOnce,
    "unequal": Unequal,
}


def no_run(kind: type[Contestant], site: Site, sizes: Sizes) -> list[float]:
    raise NotImplementedError


MEASURE = Measure("both", (SPEED, DELAY), no_run)


def compared() -> Results:
    found = results()
    for name, speed in {"stanchion": 300.0, "careless": 600.0, "careful": 150.0, "unequal": 900.0}.items():
        found.cell("speed", "durable", name).values.append(speed)
        found.cell("delay", "durable", name).values.append(speed)
    return found


def test_the_best_peer_is_the_fastest_or_the_one_with_least_delay() -> None:
    assert best_peer(SPEED, "durable", KINDS, compared()) == ("careless", 600.0)
    assert best_peer(DELAY, "durable", KINDS, compared()) == ("careful", 150.0)
    assert best_peer(SPEED, "fast", KINDS, compared()) is None


def test_the_summary_compares_with_peers_of_any_and_of_equal_delivery() -> None:
    rows = summary_table([MEASURE], KINDS, compared()).rows
    assert rows[0] == ["Speed, jobs/s", "durable", "300", "Careless", "600", "0.50", "2.00"]
    assert rows[1] == ["Speed, jobs/s", "fast", "n/a", "n/a", "n/a", "n/a", "n/a"]


def test_a_table_shows_the_spread_the_ratio_and_failures() -> None:
    found = compared()
    cell = found.cell("speed", "durable", "stanchion")
    cell.values += [200.0, 400.0]
    cell.failures.append("lost a job")
    speed = next(iter(series_tables([MEASURE], KINDS, found)))
    assert speed.rows[0] == ["Stanchion", "300 [200–400], 1 failed", "0.50", "n/a", ""]


def test_the_page_names_every_contestant_and_every_failure() -> None:
    found = compared()
    found.cell("speed", "durable", "stanchion").failures.append("lost a job")
    text = docs_page.page([MEASURE], KINDS, found)
    assert all(kind.facts.title in text for kind in KINDS.values())
    assert "speed / durable / stanchion: lost a job" in text
