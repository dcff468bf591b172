"""Drawing in the terminal: wait and run times as histograms."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from stanchion.records import Timing
from stanchion.rules.histogram import STARTS, quantile

WIDTH = 40

# The 148 buckets are too many for a screen: they are drawn in these groups, named by where they start.
_EDGES = (0, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 259200)


def histogram(title: str, timing: Timing) -> RenderableType:
    """A timing as bars, with how many, mean, and where half and nearly all of them lie."""
    if not timing.count:
        return Text(f"{title}: nothing yet", style="dim")
    head = Text.assemble(
        (title, "bold"),
        f"  {timing.count} jobs, mean {seconds(timing.mean)} ± {seconds(timing.std)},",
        f" half within {seconds(_end(timing, 0.5))}, 99 % within {seconds(_end(timing, 0.99))}",
    )
    return Group(head, _bars(timing))


def seconds(value: float) -> str:
    """A duration for people."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g} s"


def _bars(timing: Timing) -> Table:
    counts = [0] * len(_EDGES)
    for start, count in zip(STARTS, timing.histogram, strict=True):
        counts[sum(edge <= start for edge in _EDGES) - 1] += count
    first, last = (next(i for i in order if counts[i]) for order in (range(len(counts)), range(len(counts) - 1, -1, -1)))
    table = Table(box=None, show_header=False, padding=(0, 1))
    for index in range(first, last + 1):
        share = counts[index] / max(counts)
        table.add_row(_label(index), str(counts[index]), "█" * round(share * WIDTH) or ("▏" if counts[index] else ""))
    return table


def _label(index: int) -> str:
    if index + 1 == len(_EDGES):
        return f"{seconds(_EDGES[index])} and more"
    return f"{seconds(_EDGES[index]) if _EDGES[index] else '0'} – {seconds(_EDGES[index + 1])}"


def _end(timing: Timing, part: float) -> float:
    """Where the bucket ends that holds the part: the histogram says no more than that."""
    start = quantile(timing.histogram, part)
    return float(next((edge for edge in STARTS if edge > start), start))
