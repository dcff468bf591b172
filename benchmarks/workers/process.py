"""A worker process, from its start to its end."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Self

import psutil

from benchmarks.contestants.contract import Contestant, Site
from benchmarks.workers.marks import Mark, count_marks, read_marks

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 30.0
"""How long a worker may start no job, and how long it may take to stop."""


class WorkerSilent(Exception):
    """A worker died, started no job for too long, or would not stop."""


class WorkerProcess:
    """A contestant's worker, run for a ``with`` block."""

    def __init__(self, kind: type[Contestant], site: Site, threads: int) -> None:
        self._marks = site.marks
        self._log = site.folder / "worker.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                kind.worker_command(threads), cwd=ROOT, env=site.environment(), stdout=log, stderr=subprocess.STDOUT
            )

    def wait_for(self, count: int) -> list[Mark]:
        """Wait until so many jobs have started; all marks. Raises WorkerSilent when there is no end to it."""
        seen, patient_until = 0, time.monotonic() + PATIENCE_SECONDS
        while (found := count_marks(self._marks)) < count:
            if found > seen:
                seen, patient_until = found, time.monotonic() + PATIENCE_SECONDS
            if time.monotonic() > patient_until or self._process.poll() is not None:
                raise WorkerSilent(f"{found} of {count} jobs started; its last words: {self._last_words()}")
            time.sleep(0.005)
        return read_marks(self._marks)

    def cpu_seconds(self) -> float:
        """CPU time used so far, by its children too."""
        worker = psutil.Process(self._process.pid)
        family = [worker, *worker.children(recursive=True)]
        return sum(sum(one.cpu_times()[:2]) for one in family)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise WorkerSilent(f"it did not stop at SIGTERM; its last words: {self._last_words()}") from None

    def _last_words(self) -> str:
        return self._log.read_text(errors="replace").strip()[-500:] or "none"
