"""Results as tables: the same cells on the terminal and in the docs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.table import Table as RichTable

from benchmarks.contestants.contract import DURABILITIES, Contestant, Durability
from benchmarks.measures.contract import Measure, Series
from benchmarks.results import Cell, Results

Kinds = Mapping[str, type[Contestant]]
NONE = "n/a"


class Table(NamedTuple):
    """A title, a header and rows, all of them text."""

    title: str
    header: list[str]
    rows: list[list[str]]

    def rich(self) -> RichTable:
        """For the terminal."""
        table = RichTable(title=self.title, title_justify="left")
        for index, name in enumerate(self.header):
            table.add_column(name, justify="right" if index else "left")
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        """For the docs."""
        align = ["---"] + ["---:"] * (len(self.header) - 1)
        return "\n".join(f"| {' | '.join(cells)} |" for cells in (self.header, align, *self.rows))


def series_tables(measures: Sequence[Measure], kinds: Kinds, results: Results) -> Iterator[Table]:
    """A table for each series: every contestant, at both durabilities."""
    for measure in measures:
        durabilities = [measure.only] if measure.only else DURABILITIES
        for series in measure.series:
            better = ", lower is better" if series.lower_is_better else ""
            header = ["", *(text for durability in durabilities for text in (durability, "× best peer"))]
            rows = [
                [kind.facts.title, *(text for one in durabilities for text in _texts(series, one, name, kinds, results))]
                for name, kind in kinds.items()
                if measure.needs not in kind.facts.lacks
            ]
            yield Table(f"{series.title} ({series.unit}{better})", header, rows)


def summary_table(measures: Sequence[Measure], kinds: Kinds, results: Results) -> Table:
    """Stanchion beside the best peer of each series."""
    rows = [
        [f"{series.title}, {series.unit}", durability, *_compared(series, durability, kinds, results)]
        for measure in measures
        for series in measure.series
        for durability in ([measure.only] if measure.only else DURABILITIES)
    ]
    header = ["", "durability", "Stanchion", "best peer", "its", "×", "× best at-least-once peer"]
    return Table("Stanchion beside the best peer", header, rows)


def _compared(series: Series, durability: Durability, kinds: Kinds, results: Results) -> list[str]:
    own, best = results.median(series.name, durability, "stanchion"), best_peer(series, durability, kinds, results)
    if best is None:
        return [_number(own), NONE, NONE, NONE, NONE]
    careful = {name: kind for name, kind in kinds.items() if not kind.facts.at_most_once}
    equal = best_peer(series, durability, careful, results)
    ratios = [_ratio(own, one[1]) if one else NONE for one in (best, equal)]
    return [_number(own), kinds[best[0]].facts.title, _number(best[1]), *ratios]


def best_peer(series: Series, durability: Durability, kinds: Kinds, results: Results) -> tuple[str, float] | None:
    """The best of the peers at equal durability: its name and median."""
    medians = {
        name: median
        for name, kind in kinds.items()
        if kind.facts.is_peer and (median := results.median(series.name, durability, name)) is not None
    }
    choose = min if series.lower_is_better else max
    return choose(medians.items(), key=lambda item: item[1]) if medians else None


def _texts(series: Series, durability: Durability, name: str, kinds: Kinds, results: Results) -> tuple[str, str]:
    cell = results.cells.get((series.name, durability, name))
    if cell is None:
        return NONE, ""
    best = best_peer(series, durability, kinds, results)
    return _spread(cell), _ratio(cell.median, best[1]) if best else ""


def _spread(cell: Cell) -> str:
    failed = f"{len(cell.failures)} failed" if cell.failures else ""
    if not cell.values:
        return failed
    spread = f"{_number(cell.median)} [{_number(min(cell.values))}–{_number(max(cell.values))}]"
    return f"{spread}, {failed}" if failed else spread


def _ratio(value: float | None, best: float) -> str:
    return f"{value / best:.2f}" if value is not None and best else NONE


def _number(value: float | None) -> str:
    if value is None:
        return NONE
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
