"""Taking turns: each repeat of a measure goes once round all contestants, so that noise hits all alike."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.contestants.contract import Contestant, Durability, Site
from benchmarks.measures.contract import Measure, Sizes
from benchmarks.results import Results

Tell = Callable[[str], None]


def run_all(
    measures: Sequence[Measure],
    kinds: Mapping[str, type[Contestant]],
    sizes: Sizes,
    results: Results,
    folder: Path,
    tell: Tell,
) -> None:
    """Run every measure ``results.repeats`` times, on fresh files in the folder each time, and keep what comes of it."""
    for measure in measures:
        turns = [
            (name, durability)
            for name, kind in kinds.items()
            if measure.needs not in kind.facts.lacks
            for durability in measure.durabilities(kind)
        ]
        for repeat in range(results.repeats):
            for name, durability in _rotated(turns, repeat):
                tell(f"{measure.name}, {repeat + 1} of {results.repeats}: {kinds[name].facts.title}, {durability}")
                with tempfile.TemporaryDirectory(dir=folder) as fresh:
                    _run_one(measure, name, kinds[name], Site(Path(fresh), durability), sizes, results)


def _run_one(measure: Measure, name: str, kind: type[Contestant], site: Site, sizes: Sizes, results: Results) -> None:
    cells = [results.cell(series.name, site.durability, name) for series in measure.series]
    try:
        values = measure.run(kind, site, sizes)
    except Exception as error:  # noqa: BLE001 - whatever a contestant raises is told, and the others go on
        for cell in cells:
            cell.failures.append(f"{type(error).__name__}: {error}")
        return
    for cell, value in zip(cells, values, strict=True):
        cell.values.append(value)


def _rotated(turns: list[tuple[str, Durability]], by: int) -> list[tuple[str, Durability]]:
    """The turns, begun with another one each time, so that nobody always follows the same."""
    start = by % len(turns) if turns else 0
    return turns[start:] + turns[:start]
