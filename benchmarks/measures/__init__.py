"""What is measured, in the order in which it is shown."""

from __future__ import annotations

from benchmarks.measures.calls import CALLS
from benchmarks.measures.contract import Measure
from benchmarks.measures.processes import PROCESSES

MEASURES: tuple[Measure, ...] = (*CALLS, *PROCESSES)
