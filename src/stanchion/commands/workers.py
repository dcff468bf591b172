"""Workers: who is there and what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stanchion.commands.base import Command
from stanchion.commands.kinds import Worker, Workers
from stanchion.records import WorkerCounts, WorkerJobs


@dataclass(frozen=True, slots=True)
class AllWorkers(Command[tuple[WorkerCounts, ...]]):
    """Every worker seen within ``max-worker-age``, most recently seen first."""

    name: ClassVar[str] = "workers"
    reads: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class JobsOfWorker(Command[WorkerJobs]):
    """The jobs that a worker holds, next to lapse last, and those of which the lock has lapsed."""

    name: ClassVar[str] = "worker"
    reads: ClassVar[bool] = True

    worker: Worker


@dataclass(frozen=True, slots=True)
class Deregister(Command[int]):
    """Forget workers; how many were known. Jobs that they hold stay running until their locks lapse."""

    name: ClassVar[str] = "worker.deregister"

    workers: Workers
