"""What a program's own calls cost: puts, and taking and settling, by one thread and by eight."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial

from benchmarks.contestants.contract import Contestant, Data, Site
from benchmarks.measures.contract import Measure, Run, Series, Sizes, check_all_ran, check_left, jobs

THREADS = 8
BULK = 500
BATCH = 50


def chunks(batch: list[Data], size: int) -> Iterator[list[Data]]:
    return (batch[start : start + size] for start in range(0, len(batch), size))


def fill(contestant: Contestant, batch: list[Data]) -> None:
    """Put jobs, in the fastest way that the contestant has."""
    if "put_many" in contestant.facts.lacks:
        for data in batch:
            contestant.put(data)
        return
    for chunk in chunks(batch, BULK):
        contestant.put_many(chunk)


def together(contestant: Contestant, calls: Sequence[Callable[[], float]]) -> float:
    """Make each call on a thread of its own, all at once. An error of one is raised.

    Each tells when it finished its last job, and the latest of these ends the time: a thread that sleeps for a lock, only to
    find that nothing is left, is not waited for. The answer is in seconds.
    """
    barrier = threading.Barrier(len(calls))
    began: list[float] = []
    ended: list[float] = []
    errors: list[BaseException] = []

    def work(call: Callable[[], float]) -> None:
        try:
            contestant.left()  # what a thread needs is opened before the clock starts
            barrier.wait()
            began.append(time.perf_counter())
            ended.append(call())
        except BaseException as error:  # noqa: BLE001 - it is raised on the thread that waits
            barrier.abort()
            errors.append(error)

    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return max(ended) - min(began)


def each(call: Callable[[Data], None], batch: list[Data]) -> float:
    for data in batch:
        call(data)
    return time.perf_counter()


def put_by(threads: int) -> Run:
    """Puts, one a call, by so many threads."""

    def run(kind: type[Contestant], site: Site, sizes: Sizes) -> list[float]:
        with closing(kind(site)) as contestant:
            shares = [jobs(sizes.puts)[share::threads] for share in range(threads)]
            seconds = together(contestant, [partial(each, contestant.put, share) for share in shares])
        check_left(kind, site, sizes.puts)
        return [sizes.puts / seconds]

    return run


def put_in_bulk(kind: type[Contestant], site: Site, sizes: Sizes) -> list[float]:
    """Puts, BULK a call."""
    with closing(kind(site)) as contestant:
        bulks = list(chunks(jobs(sizes.bulk_puts), BULK))
        began = time.perf_counter()
        for bulk in bulks:
            contestant.put_many(bulk)
        seconds = time.perf_counter() - began
    check_left(kind, site, sizes.bulk_puts)
    return [sizes.bulk_puts / seconds]


def pop_by(threads: int) -> Run:
    """Take and settle, one a call, by so many threads."""

    def run(kind: type[Contestant], site: Site, sizes: Sizes) -> list[float]:
        numbers: list[int] = []

        def task(data: Data) -> None:
            numbers.append(data["n"])

        with closing(kind(site)) as contestant:
            fill(contestant, jobs(sizes.pops))

            def consume() -> float:
                done = time.perf_counter()
                while contestant.pop_complete(task):
                    done = time.perf_counter()
                return done

            seconds = together(contestant, [consume] * threads)
        check_all_ran(numbers, sizes.pops)
        check_left(kind, site, 0)
        return [sizes.pops / seconds]

    return run


def pop_in_batches(kind: type[Contestant], site: Site, sizes: Sizes) -> list[float]:
    """Take and settle, BATCH a call."""
    numbers: list[int] = []

    def task(data: Data) -> None:
        numbers.append(data["n"])

    with closing(kind(site)) as contestant:
        fill(contestant, jobs(sizes.batched_pops))
        began = time.perf_counter()
        while contestant.pop_complete_many(BATCH, task):
            pass
        seconds = time.perf_counter() - began
    check_all_ran(numbers, sizes.batched_pops)
    check_left(kind, site, 0)
    return [sizes.batched_pops / seconds]


CALLS = (
    Measure("put", (Series("put", "Put, one a call, 1 thread"),), put_by(1)),
    Measure("put-8", (Series("put-8", f"Put, one a call, {THREADS} threads"),), put_by(THREADS)),
    Measure("put-bulk", (Series("put-bulk", f"Put, {BULK} a call, 1 thread"),), put_in_bulk, needs="put_many"),
    Measure("pop", (Series("pop", "Pop and complete, one by one, 1 thread"),), pop_by(1)),
    Measure("pop-8", (Series("pop-8", f"Pop and complete, one by one, {THREADS} threads"),), pop_by(THREADS)),
    Measure(
        "pop-batch",
        (Series("pop-batch", f"Pop and complete, {BATCH} a call, 1 thread"),),
        pop_in_batches,
        needs="pop_complete_many",
    ),
)
