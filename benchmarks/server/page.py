"""``docs/benchmarks-redis.md``, written from a run."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.machine import cpu

_INTRODUCTION = """\
<!-- Written by `python -m benchmarks.server --write-docs`: change benchmarks/server/page.py, not this file. -->
# Benchmarks: what the server pays

The time that a server spends on a job's life (put, pop, complete), by its own count (`INFO commandstats`), beside the old Qless
script, the one that qless-py carries, changed only so that a server of today loads it; medians, with the lowest and the highest in
brackets. Both run in turns on one server. In batches, ours are one call for all, the old one's puts and completions a pipeline.
Calls of old clients go to the script that they ship, and to the one of `stanchion script`. Memory is what `used_memory` grows by.
The longest calls are the server's slow log.

Measured on: {cpu}, {cores} cores, Linux {release}, Python {python}; load {load:.1f} at the end, so compare within a table.
"""


class Table(NamedTuple):
    """A table, and what it is about."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def page(tables: Sequence[Table], load: float) -> str:
    """The whole page."""
    introduction = _INTRODUCTION.format(
        cpu=cpu(),
        cores=len(os.sched_getaffinity(0)),
        release=platform.release(),
        python=platform.python_version(),
        load=load,
    )
    parts = [introduction, *(part for table in tables for part in (f"## {table.title}", table.markdown()))]
    return "\n\n".join(part.strip() for part in parts) + "\n"
