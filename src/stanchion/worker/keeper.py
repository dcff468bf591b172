"""The keeper of leases: a thread that renews the locks of all running jobs, and tells those that lost theirs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from stanchion.client.sync.client import Client
from stanchion.commands import Heartbeat
from stanchion.engine.contract import Outcome
from stanchion.errors import StanchionError
from stanchion.worker.active import ActiveJob
from stanchion.worker.leases import LOST, Lease, due, next_look, overdue
from stanchion.worker.perform import TIMED_OUT

LONGEST_SLEEP = 1.0
RETRY_SECONDS = 0.2


class LeaseKeeper:
    """Holds the leases of a worker's running jobs."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._leases: dict[ActiveJob, Lease] = {}
        self._cancels: dict[ActiveJob, Callable[[], None]] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="stanchion-leases", daemon=True)
        self._thread.start()

    def add(self, lease: Lease) -> None:
        """Keep a lease from now on."""
        with self._changed:
            self._leases[lease.job] = lease
            self._changed.notify()

    def cancel_by(self, job: ActiveJob, cancel: Callable[[], None]) -> None:
        """How to cancel the job's code, if its lock is lost."""
        with self._changed:
            if job in self._leases:
                self._cancels[job] = cancel

    def drop(self, job: ActiveJob) -> Lease | None:
        """Keep a lease no longer; the lease."""
        with self._changed:
            self._cancels.pop(job, None)
            return self._leases.pop(job, None)

    def held(self) -> list[ActiveJob]:
        """The jobs of which a lease is kept."""
        with self._changed:
            return list(self._leases)

    def close(self) -> None:
        """Renew nothing any more."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while not self._closed:
            with self._changed:
                self._changed.wait(next_look(self._leases.values(), time.monotonic(), LONGEST_SLEEP))
                now = time.monotonic()
                renew, over = due(self._leases.values(), now), overdue(self._leases.values(), now)
            for lease in over:
                lease.deadline = None
                lease.job.lose(TIMED_OUT)
            if renew and not self._closed:
                self._renew(renew)

    def _renew(self, leases: list[Lease]) -> None:
        # Measured before the call: a lease is never thought to last longer than it does.
        before = time.monotonic()
        beats = [Heartbeat(one.job.jid, one.job.worker, attempt=one.job.attempt) for one in leases]
        try:
            answers = self._client.run_many(beats)
        except StanchionError:
            answers = []
            time.sleep(RETRY_SECONDS)
        for lease, answer in zip(leases, answers, strict=False):
            self._hear(lease, answer, before)
        for lease in leases:
            if time.monotonic() > lease.ends:
                self._lose(lease, "it could not be renewed in time")

    def _hear(self, lease: Lease, answer: Outcome, before: float) -> None:
        if answer.error is None:
            lease.renewed = before
        elif isinstance(answer.error, LOST):
            self._lose(lease, str(answer.error))

    def _lose(self, lease: Lease, why: str) -> None:
        lease.job.lose(why)
        with self._changed:
            self._leases.pop(lease.job, None)
            cancel = self._cancels.pop(lease.job, None)
        if cancel is not None:
            cancel()
