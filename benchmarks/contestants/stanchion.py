"""Stanchion's client on its SQLite engine."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import stanchion
from benchmarks.contestants.contract import Contestant, Data, Facts, Site, Task
from stanchion.commands import Complete

QUEUE, KLASS, WORKER = "bench", "noop", "bench"


def url(site: Site) -> str:
    """Where the jobs of a site are."""
    return f"sqlite:///{site.folder / 'jobs.db'}?durability={'full' if site.durability == 'durable' else 'fast'}"


class Stanchion(Contestant):
    """``queue.put``, ``queue.pop`` and ``job.complete``, as an application calls them."""

    facts = Facts(
        title="Stanchion",
        package="stanchion",
        delivery="at least once: a lease, given back if the worker dies; finished jobs are kept, with history and statistics",
        at_most_once=False,
        durable="its default: WAL, synchronous=FULL; commands that come together share a commit",
        fast="`?durability=fast`: WAL, synchronous=NORMAL",
        worker="`stanchion worker --threads N`; it is woken by puts",
        is_peer=False,
    )

    def __init__(self, site: Site) -> None:
        self._client = stanchion.Client(url(site))
        self._queue = self._client.queues[QUEUE]

    def put(self, data: Data) -> None:
        self._queue.put(KLASS, data)

    def put_many(self, batch: Sequence[Data]) -> None:
        self._client.put_many([self._queue.new(KLASS, data) for data in batch])

    def pop_complete(self, task: Task) -> bool:
        job = self._queue.pop(WORKER)
        if job is None:
            return False
        task(job.data)
        job.complete()
        return True

    def pop_complete_many(self, count: int, task: Task) -> int:
        jobs = self._queue.pop_many(WORKER, count)
        for job in jobs:
            task(job.data)
        self._client.complete_many([Complete(job.jid, job.worker, job.queue, attempt=job.attempt) for job in jobs])
        return len(jobs)

    def left(self) -> int:
        return self._queue.length()

    def synchronous(self) -> int:
        connection = self._client._engine.shared.get()._connection  # type: ignore[attr-defined]
        return int(connection.execute("PRAGMA synchronous").fetchone()[0])

    @staticmethod
    def worker_command(threads: int) -> list[str]:
        app = "benchmarks.workers.stanchion_app:app"
        return [sys.executable, "-m", "stanchion", "worker", app, "-q", QUEUE, "--threads", str(threads)]

    def close(self) -> None:
        self._client.close()
