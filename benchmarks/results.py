"""What came of the runs: numbers, and why there are none."""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.contestants.contract import Durability
from benchmarks.machine import Machine


@dataclass
class Cell:
    """One contestant in one series at one durability."""

    values: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def median(self) -> float | None:
        return statistics.median(self.values) if self.values else None


@dataclass
class Results:
    """All cells of one run of the benchmarks."""

    machine: Machine
    repeats: int
    sizes: dict[str, float]
    cells: dict[tuple[str, Durability, str], Cell] = field(default_factory=dict)

    def cell(self, series: str, durability: Durability, contestant: str) -> Cell:
        """The cell of a series, made if it is not there."""
        return self.cells.setdefault((series, durability, contestant), Cell())

    def median(self, series: str, durability: Durability, contestant: str) -> float | None:
        cell = self.cells.get((series, durability, contestant))
        return cell.median if cell else None

    def failures(self) -> list[str]:
        """Every run that gave no number, and why."""
        return [f"{' / '.join(key)}: {failure}" for key, cell in self.cells.items() for failure in cell.failures]

    def write(self, path: Path) -> None:
        """Write all of it as JSON: series → durability → contestant."""
        series: dict[str, Any] = {}
        for (name, durability, contestant), cell in self.cells.items():
            series.setdefault(name, {}).setdefault(durability, {})[contestant] = {"median": cell.median, **asdict(cell)}
        path.parent.mkdir(parents=True, exist_ok=True)
        found = {"machine": self.machine._asdict(), "repeats": self.repeats, "sizes": self.sizes, "series": series}
        path.write_text(json.dumps(found, indent=2) + "\n")
