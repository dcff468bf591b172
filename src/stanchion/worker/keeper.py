"""The keeper of leases: a thread that renews the locks of all running jobs, and tells those that lost theirs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from stanchion.client.sync.client import Client
from stanchion.commands import Command, GetConfig, Heartbeat
from stanchion.engine.contract import Outcome
from stanchion.errors import BadArgument, JobNotFound, JobNotRunning, LockLost
from stanchion.worker.lease import Lease, due, next_look, overdue

log = logging.getLogger("stanchion.worker")

LONGEST_SLEEP = 1.0
RETRY_SECONDS = 0.2

LOST = (LockLost, JobNotRunning, JobNotFound)
"""Answers to a renewal that say that the job is no longer this worker's."""


class LeaseKeeper:
    """Holds the leases of a worker's running jobs. ``heard`` is called whenever the store has answered."""

    def __init__(self, client: Client, heard: Callable[[], None] = lambda: None) -> None:
        self._client = client
        self._heard = heard
        self._leases: set[Lease] = set()
        self._cancels: dict[Lease, Callable[[], None]] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="stanchion-leases", daemon=True)
        self._thread.start()

    def add(self, lease: Lease) -> None:
        """Keep a lease from now on."""
        with self._changed:
            self._leases.add(lease)
            self._changed.notify()

    def cancel_by(self, lease: Lease, cancel: Callable[[], None]) -> None:
        """How to cancel the job's code, if its lock is lost."""
        with self._changed:
            if lease in self._leases:
                self._cancels[lease] = cancel

    def drop(self, lease: Lease) -> None:
        """Keep a lease no longer."""
        with self._changed:
            self._leases.discard(lease)
            self._cancels.pop(lease, None)

    def lose_all(self, why: str) -> None:
        """Tell all running jobs that they are no longer this worker's."""
        with self._changed:
            leases = list(self._leases)
        for lease in leases:
            self._lose(lease, why)

    def close(self) -> None:
        """Renew nothing any more."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while not self._closed:
            with self._changed:
                self._changed.wait(next_look(self._leases, time.monotonic(), LONGEST_SLEEP))
                now = time.monotonic()
                renew, over = due(self._leases, now), overdue(self._leases, now)
            for lease in over:
                lease.late = True
            if renew and not self._closed:
                self._renew(renew)

    def _renew(self, leases: list[Lease]) -> None:
        beats = [Heartbeat(lease.job.jid, lease.job.worker, attempt=lease.job.attempt) for lease in leases]
        queues = list({lease.job.queue for lease in leases})
        asked = time.monotonic()
        answers = self._ask([*beats, *(_length_of_locks(queue) for queue in queues)])
        lengths = dict(zip(queues, answers[len(beats) :], strict=False))
        for lease, answer in zip(leases, answers, strict=False):
            self._hear(lease, answer, asked, lengths.get(lease.job.queue))
        now = time.monotonic()
        for lease in leases:
            if now > lease.ends:
                self._lose(lease, "it could not be renewed in time")

    def _ask(self, commands: list[Command[Any]]) -> list[Outcome]:
        try:
            answers = self._client.run_many(commands)
            self._heard()
            return answers
        except Exception as error:  # noqa: BLE001 - whatever it is, this thread must live: without it every job is lost
            log.warning("locks could not be renewed, trying again: %s", error)
            time.sleep(RETRY_SECONDS)
            return []

    def _hear(self, lease: Lease, answer: Outcome, asked: float, length: Outcome | None) -> None:
        if isinstance(answer.error, LOST):
            self._lose(lease, str(answer.error))
        elif answer.error is None:
            lease.renewed = asked
            if length is not None and length.error is None:
                lease.seconds = float(length.reply)

    def _lose(self, lease: Lease, why: str) -> None:
        with self._changed:
            cancel = self._cancels.pop(lease, None)
            kept = lease in self._leases
            self._leases.discard(lease)
        if not kept or lease.settled:
            return
        lease.lost = why
        log.warning("job %s is no longer this worker's: %s", lease.job.jid, why)
        if cancel is not None:
            cancel()


def _length_of_locks(queue: str) -> Command[Any]:
    # It can be changed at run time; a lock that is renewed has the new length.
    try:
        return GetConfig(f"{queue}-heartbeat")
    except BadArgument:  # so long a name has no option of its own
        return GetConfig("heartbeat")
