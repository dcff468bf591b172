"""What each queue's worker process does: draining, picking up, and waiting."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from contextlib import closing

from benchmarks.contestants.contract import Contestant, Site
from benchmarks.measures.calls import fill
from benchmarks.measures.contract import Measure, Run, Series, Sizes, check_all_ran, check_left, job, jobs
from benchmarks.workers.process import WorkerProcess

SHORTEST_GAP, LONGEST_GAP = 0.02, 0.1
SETTLE_SECONDS = 1.0


def drain_by(threads: int) -> Run:
    """Jobs a second from the first start to the last, of a worker with so many threads. Its boot is not counted."""

    def run(kind: type[Contestant], site: Site, sizes: Sizes) -> list[float]:
        with closing(kind(site)) as contestant:
            fill(contestant, jobs(sizes.drained))
        with WorkerProcess(kind, site, threads) as worker:
            marks = worker.wait_for(sizes.drained)
        check_all_ran([mark.number for mark in marks], sizes.drained)
        check_left(kind, site, 0)
        starts = [mark.started for mark in marks]
        return [(len(starts) - 1) * 1e9 / (max(starts) - min(starts))]

    return run


def pick_up(kind: type[Contestant], site: Site, sizes: Sizes) -> list[float]:
    """Milliseconds from the call that puts a job to its start by an idle worker: p50, p99."""
    count = sizes.pickups + 1
    gaps = random.Random(1)
    put: list[int] = []
    with closing(kind(site)) as contestant, WorkerProcess(kind, site, 1) as worker:
        for number in range(count):
            put.append(time.monotonic_ns())
            contestant.put(job(number))
            if number == 0:
                worker.wait_for(1)  # it has booted
            time.sleep(gaps.uniform(SHORTEST_GAP, LONGEST_GAP))
        marks = worker.wait_for(count)
    check_all_ran([mark.number for mark in marks], count)
    check_left(kind, site, 0)
    waits = sorted((mark.started - put[mark.number]) / 1e6 for mark in marks if mark.number > 0)
    return [at(waits, 0.50), at(waits, 0.99)]


def at(ordered: Sequence[float], share: float) -> float:
    """The value that so much of the ordered values do not exceed."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def idle(kind: type[Contestant], site: Site, sizes: Sizes) -> list[float]:
    """CPU time of a worker that has nothing to do, in percent of a core."""
    with closing(kind(site)) as contestant, WorkerProcess(kind, site, 1) as worker:
        contestant.put(job(0))
        worker.wait_for(1)
        time.sleep(SETTLE_SECONDS)
        used, began = worker.cpu_seconds(), time.monotonic()
        time.sleep(sizes.idle_seconds)
        share = (worker.cpu_seconds() - used) / (time.monotonic() - began)
    check_left(kind, site, 0)
    return [share * 100]


PROCESSES = (
    Measure("drain-1", (Series("drain-1", "Drain by a worker process with 1 thread"),), drain_by(1)),
    Measure("drain-8", (Series("drain-8", "Drain by a worker process with 8 threads"),), drain_by(8)),
    Measure(
        "pickup",
        (
            Series("pickup-p50", "Pickup by an idle worker, p50", "ms", lower_is_better=True),
            Series("pickup-p99", "Pickup by an idle worker, p99", "ms", lower_is_better=True),
        ),
        pick_up,
    ),
    # An idle worker commits nothing, so that one durability tells all.
    Measure(
        "idle",
        (Series("idle", "CPU of an idle worker", "% of a core", lower_is_better=True),),
        idle,
        only="durable",
    ),
)
