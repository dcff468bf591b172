"""What a contestant is: a queue in a folder, at a stated durability."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, get_args

Durability = Literal["durable", "fast"]
"""durable: each acknowledged change is synced to the disk before the call returns (synchronous=FULL).
fast: it survives a crash of the process, but a power cut may take the newest ones (synchronous=NORMAL, in WAL mode)."""

DURABILITIES: tuple[Durability, ...] = get_args(Durability)

Data = dict[str, Any]
Task = Callable[[Data], object]


class Site(NamedTuple):
    """Where one run keeps its files, and how durable it is to be. Worker processes get theirs from the environment."""

    folder: Path
    durability: Durability

    @property
    def marks(self) -> Path:
        """Where a worker marks the jobs that it starts."""
        return self.folder / "marks"

    def environment(self) -> dict[str, str]:
        """The environment that tells a worker process about the site."""
        return {**os.environ, "BENCH_FOLDER": str(self.folder), "BENCH_DURABILITY": self.durability}

    @classmethod
    def of_environment(cls) -> Self:
        """The site that this process was started for."""
        durability: Durability = "durable" if os.environ["BENCH_DURABILITY"] == "durable" else "fast"
        return cls(Path(os.environ["BENCH_FOLDER"]), durability)


class Facts(NamedTuple):
    """What readers must know to judge a contestant's numbers."""

    title: str
    package: str
    """Whose version is reported."""
    delivery: str
    at_most_once: bool
    """Does a job that was taken get lost when the worker dies? Then one change takes it, and none settles it."""
    durable: str | None
    """How each durability is reached; None if it cannot be."""
    fast: str | None
    worker: str
    lacks: Mapping[str, str] = {}
    """Methods that it cannot have, and why."""
    is_peer: bool = True
    """Only peers at equal durability are what Stanchion is compared with."""
    note: str = ""

    def durabilities(self) -> list[Durability]:
        """Those that can be reached."""
        return [durability for durability in DURABILITIES if getattr(self, durability) is not None]


class Contestant(Protocol):
    """A queue, open at a site. Threads share one."""

    facts: ClassVar[Facts]

    def __init__(self, site: Site) -> None: ...

    def put(self, data: Data) -> None:
        """Put a job, in one acknowledged change."""

    def put_many(self, batch: Sequence[Data]) -> None:
        """Put several jobs in one acknowledged change."""
        raise LookupError(self.facts.lacks["put_many"])

    def pop_complete(self, task: Task) -> bool:
        """Take a job, call ``task`` with its data, and settle it; False if there is none."""
        raise NotImplementedError

    def pop_complete_many(self, count: int, task: Task) -> int:
        """As ``pop_complete`` with up to ``count`` jobs, in as few changes as the queue can; how many there were."""
        raise LookupError(self.facts.lacks["pop_complete_many"])

    def left(self) -> int:
        """How many jobs are not finished."""
        raise NotImplementedError

    def synchronous(self) -> int:
        """SQLite's setting of that name, read from the connection that writes: 2 is FULL, 1 NORMAL, 0 OFF."""
        raise NotImplementedError

    @staticmethod
    def worker_command(threads: int) -> list[str]:
        """The command that starts a worker process for the site of its environment; it stops at SIGTERM."""
        raise NotImplementedError

    def close(self) -> None: ...


def loop_command(name: str, threads: int) -> list[str]:
    """The worker command of a contestant whose queue ships no worker."""
    return [sys.executable, "-m", "benchmarks.workers.loop", name, str(threads)]
