"""As many children as a lane runs jobs at once, and the jobs that wait for one of them to be ready."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from stanchion.worker.lease import Lease
from stanchion.worker.outcome import Outcome
from stanchion.worker.process.nursery import Nursery
from stanchion.worker.process.patience import GRACE
from stanchion.worker.process.tender import Recycling, Tender, Work

END_SECONDS = 5.0


class ProcessPool:
    """Children that run jobs, each with its tender. Started at once, so that they are warm."""

    def __init__(self, nursery: Nursery, size: int, recycling: Recycling) -> None:
        self._nursery = nursery
        self._recycling = recycling
        self._changed = threading.Condition()
        self._backlog: deque[Work] = deque()
        self._idle: list[Tender] = []
        self._unfinished = 0
        self._tenders: list[Tender] = []
        self.closed = False
        self.resize(size)

    def resize(self, size: int) -> None:
        """Have so many children from now on; those that are too many finish what they run first."""
        with self._changed:
            tenders = [tender for tender in self._tenders if not tender.retired]
            for tender in tenders[size:]:
                tender.retired = True
            missing = size - len(tenders)
        new = [Tender(self, self._nursery, self._recycling) for _ in range(missing)]
        with self._changed:
            self._tenders += new
        for tender in tenders[size:]:
            tender.wake()

    def submit(self, work: Work) -> Callable[[], None]:
        """Let a child run the job. The answer lets it look at the job's lease, which is to be lost by then."""

        def report(lease: Lease, outcome: Outcome) -> None:
            work.report(lease, outcome)
            self._finished()

        counted = work._replace(report=report)
        with self._changed:
            self._unfinished += 1
            idle = [tender for tender in self._idle if not tender.retired]
            if idle:
                self._idle.remove(idle[-1])
                idle[-1].assigned = counted
            else:
                self._backlog.append(counted)
        if idle:
            idle[-1].wake()
        return self._wake_all

    def take(self, tender: Tender) -> Work | None:
        """Work that waits; the tender is woken when there is some, if there is none now."""
        with self._changed:
            if tender.assigned is not None:
                work, tender.assigned = tender.assigned, None
                return work
            if self._backlog:
                return self._backlog.popleft()
            if tender not in self._idle:
                self._idle.append(tender)
            return None

    def gone(self, tender: Tender) -> None:
        """A tender ends; what it was given and had not begun waits for another."""
        with self._changed:
            self._tenders = [other for other in self._tenders if other is not tender]
            if tender in self._idle:
                self._idle.remove(tender)
            work, tender.assigned = tender.assigned, None
            if work is not None:
                self._backlog.append(work)
                self._wake_all()

    def dump(self) -> None:
        """Let all children write the stacks of their threads."""
        for tender in list(self._tenders):
            tender.dump()

    def halt(self) -> None:
        """Wait until nothing runs: the leases of all jobs are lost, so each ends or is killed after its grace."""
        self._wake_all()
        until = time.monotonic() + GRACE + END_SECONDS
        with self._changed:
            self._unfinished -= len(self._backlog)
            self._backlog.clear()
            while self._unfinished and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)

    def close(self) -> None:
        """End the children that have nothing to run."""
        self.closed = True
        tenders = list(self._tenders)
        self._wake_all()
        until = time.monotonic() + END_SECONDS
        for tender in tenders:
            tender.join(max(0.0, until - time.monotonic()))

    def _finished(self) -> None:
        with self._changed:
            self._unfinished -= 1
            self._changed.notify_all()

    def _wake_all(self) -> None:
        for tender in list(self._tenders):
            tender.wake()
