"""``docs/benchmarks.md``, written from a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.measures.contract import Measure
from benchmarks.results import Results
from benchmarks.tables import Kinds, series_tables, summary_table

_INTRODUCTION = """\
<!-- Written by `python -m benchmarks --write-docs`: change benchmarks/docs_page.py, not this file. -->
# Benchmarks

Stanchion's SQLite engine beside other Python queues that keep their jobs in SQLite. `make bench` measures them on your machine.

Each number is the median of {repeats} runs, with the lowest and the highest in brackets. Each run has fresh files, and the
contestants take turns, so that noise hits all alike. After each run the jobs are counted: it gives a number only if every job
was put and ran exactly once. A run puts {puts:,} jobs one by one, {bulk_puts:,} in bulk, pops {pops:,} one by one,
{batched_pops:,} in batches, drains {drained:,}, and waits for {pickups} pickups. A job carries about 100 bytes of JSON, and
running it does nothing. Drain is timed from the start of the first job to the start of the last; pickup from the call that puts
a job to its start.

*Durable* means that each acknowledged change is synced to the disk before the call returns. *Fast* means that a crash of the
process loses nothing, but a power cut may take the newest changes. *× best peer* is the ratio to the best of the other queues
at the same durability: for rates more than 1 is better, for times and CPU less.

Measured on: {machine}.
"""

_READING = """\
## How to read them

- Compare within a table. Rates depend on what a sync costs: see the figure above, and measure on your own disk.
- Delivery *at most once* means that a job is deleted when it is taken, and lost if the worker dies. Such a queue makes one
  change to pop and complete a job, where the others make two; the last column of the summary leaves them out.
- SQLiteAckQueue and litequeue look for the next job among the finished ones that they keep, so they get slower as these grow;
  nobody prunes here. Stanchion keeps finished jobs too.
- Each of the 8 threads that put has its own share of the jobs. litequeue's threads meet at SQLite's lock, whose losers sleep
  longer and longer: the last of them ends the time.
- Where a queue ships no worker, the pause of our loop (10 ms) makes its pickup time and part of its idle cost.
"""


def page(measures: Sequence[Measure], kinds: Kinds, results: Results) -> str:
    """The whole page."""
    parts = [
        _INTRODUCTION.format(repeats=results.repeats, machine=results.machine.line(), **results.sizes),
        "## Summary",
        summary_table(measures, kinds, results).markdown(),
        "## Who is compared",
        *_contestants(kinds),
        "## Results",
    ]
    for table in series_tables(measures, kinds, results):
        parts += [f"### {table.title}", table.markdown()]
    failures = [f"- {failure}" for failure in results.failures()]
    if failures:
        parts += ["## Runs that gave no number", "\n".join(failures)]
    return "\n\n".join(part.strip() for part in [*parts, _READING]) + "\n"


def _contestants(kinds: Kinds) -> Iterator[str]:
    for kind in kinds.values():
        facts = kind.facts
        lines = [
            f"**{facts.title}**",
            "",
            f"- Delivery: {facts.delivery}.",
            f"- Durable: {facts.durable or 'not shown'}.",
            f"- Fast: {facts.fast or 'not shown'}.",
            f"- Worker: {facts.worker}.",
            *(f"- Not measured, `{method}`: {reason}." for method, reason in facts.lacks.items()),
            *([f"- {facts.note}"] if facts.note else []),
        ]
        yield "\n".join(lines)
