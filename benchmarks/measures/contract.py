"""What a measure is: one run of one contestant on a fresh site, to one number for each of its series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.contestants.contract import Contestant, Data, Durability, Site


class BrokenRun(Exception):
    """The jobs of a run do not add up, or its worker did not do them: it gives no number."""


class Sizes(NamedTuple):
    """How much is done in one run."""

    puts: int = 4000
    bulk_puts: int = 20_000
    pops: int = 2000
    batched_pops: int = 10_000
    drained: int = 4000
    pickups: int = 100
    idle_seconds: float = 5.0


QUICK = Sizes(puts=800, bulk_puts=5000, pops=400, batched_pops=2000, drained=800, pickups=20, idle_seconds=1.0)


class Series(NamedTuple):
    """A row of numbers that can be compared: its name in the results, what people read, and its unit."""

    name: str
    title: str
    unit: str = "jobs/s"
    lower_is_better: bool = False


Run = Callable[[type[Contestant], Site, Sizes], Sequence[float]]


class Measure(NamedTuple):
    """A measure. ``run`` gives a number for each of its series; ``needs`` is the contestants' method that it stands on."""

    name: str
    series: tuple[Series, ...]
    run: Run
    needs: str = ""
    only: Durability | None = None

    def durabilities(self, kind: type[Contestant]) -> list[Durability]:
        """Those at which a contestant is measured."""
        return [one for one in kind.facts.durabilities() if self.only in (None, one)]


def job(number: int) -> Data:
    """The data of a job: about 100 bytes of JSON."""
    return {"n": number, "to": "reader@example.org", "template": "weekly-digest", "locale": "en", "tries": [1, 2, 3]}


def jobs(count: int) -> list[Data]:
    return [job(number) for number in range(count)]


def check(what: str, found: int, expected: int) -> None:
    """Raise BrokenRun unless the counts agree."""
    if found != expected:
        raise BrokenRun(f"{what}: {found}, not {expected}")


def check_left(kind: type[Contestant], site: Site, expected: int) -> None:
    """Raise BrokenRun unless a queue that is opened anew has so many unfinished jobs."""
    contestant = kind(site)
    try:
        check("jobs left", contestant.left(), expected)
    finally:
        contestant.close()


def check_all_ran(numbers: Sequence[int], count: int) -> None:
    """Raise BrokenRun unless each job ran, and ran once."""
    check("jobs run", len(numbers), count)
    check("different jobs run", len(set(numbers)), count)
