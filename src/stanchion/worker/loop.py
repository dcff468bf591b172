"""What a worker does next, given what has happened and the time. No I/O, no clock, no threads: the driver is in ``worker``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from stanchion.commands import Command, Pop, Timeout
from stanchion.engine.contract import Outcome
from stanchion.errors import DiskFull, OutcomeUnknown, Refused, Retryable
from stanchion.worker.lease import Lease, new_lease

TROUBLE_SECONDS = 0.5
"""The pause after the store could not do what it was asked."""

PASSING = (Retryable, OutcomeUnknown, DiskFull)
"""Errors that may be over in a while. Attempt numbers make it harmless to repeat what had happened after all."""


class Settlement(NamedTuple):
    """What settles a job, and the lease under which it may be settled."""

    command: Command[Any]
    lease: Lease


class Exchange(NamedTuple):
    """Make one round trip: settle what is to be settled, and pop."""

    settlements: tuple[Settlement, ...]
    pop: Pop | None

    @property
    def commands(self) -> list[Command[Any]]:
        """What is run, in order."""
        settling = [settlement.command for settlement in self.settlements]
        return settling if self.pop is None else [*settling, self.pop]


class Sleep(NamedTuple):
    """Sleep until something happens, or until then; ``watch``: a job in a queue is something."""

    until: float
    watch: bool


class Leave(NamedTuple):
    """Settle what can be settled, and hand back the jobs that are not done: for whoever comes next, at the cost of no retry."""

    settlements: tuple[Settlement, ...]
    leases: tuple[Lease, ...]

    @property
    def commands(self) -> list[Command[Any]]:
        """What is run, in order."""
        handing_back = [Timeout((lease.job.jid,)) for lease in self.leases]
        return [*(settlement.command for settlement in self.settlements), *handing_back]


class End(NamedTuple):
    """Nothing is left to do."""


Step = Exchange | Sleep | Leave | End


class Heard(NamedTuple):
    """What the answers to an exchange mean: jobs to start, settlements that were refused, what else went wrong."""

    started: list[Lease]
    refused: list[tuple[Settlement, BaseException]]
    trouble: BaseException | None


class Loop:
    """Tell it what happens, and ask it for the next step.

    Queues are looked at in their order: the first must be found empty before the second is popped from. Each event that may
    bring work, or makes room, starts again at the first.
    """

    def __init__(self, worker: str, queues: Sequence[str], slots: int, stop_seconds: float, *, burst: bool = False) -> None:
        self._worker = worker
        self._queues = tuple(queues)
        self._slots = slots
        self._stop_seconds = stop_seconds
        self._burst = burst
        self._running: set[Lease] = set()
        self._unsettled: list[Settlement] = []
        self._next_queue = 0
        self._quiet_until = -math.inf
        self._stops = 0
        self._leave_at = math.inf
        self.done = 0
        """How many jobs were started."""

    @property
    def running(self) -> int:
        """How many jobs run."""
        return len(self._running)

    def look(self) -> None:
        """There may be something to pop."""
        self._next_queue = 0

    def finished(self, lease: Lease, command: Command[Any] | None) -> None:
        """A job's code is over; the command settles the job, if that is left to do."""
        self._running.discard(lease)
        self._next_queue = 0
        if command is not None:
            self._unsettled.append(Settlement(command, lease))

    def stop(self, now: float) -> None:
        """Take no more jobs; a second time: leave at once."""
        self._stops += 1
        self._leave_at = min(self._leave_at, now + self._stop_seconds if self._stops == 1 else now)

    def answered(self, exchange: Exchange, answers: Sequence[Outcome], asked: float, now: float) -> Heard:
        """The exchange was made; it was begun at ``asked``."""
        self._unsettled = []
        refused: list[tuple[Settlement, BaseException]] = []
        trouble: BaseException | None = None
        for settlement, answer in zip(exchange.settlements, answers, strict=False):
            if isinstance(answer.error, Refused) and not isinstance(answer.error, PASSING):
                refused.append((settlement, answer.error))
            elif answer.error is not None:
                self._unsettled.append(settlement)
                trouble = answer.error
        started: list[Lease] = []
        if exchange.pop is not None and answers[-1].error is None:
            started = self._popped(exchange.pop, answers[-1], asked)
        elif exchange.pop is not None:
            trouble = answers[-1].error
        if trouble is not None:
            self._quiet_until = now + TROUBLE_SECONDS
        return Heard(started, refused, trouble)

    def unreachable(self, now: float) -> None:
        """The exchange could not be made; all of it is tried again."""
        self._quiet_until = now + TROUBLE_SECONDS

    def left(self) -> None:
        """What ``Leave`` asked for was done, or tried."""
        self._running.clear()
        self._unsettled.clear()

    def give_up(self, now: float) -> list[Settlement]:
        """The settlements that come too late, which are tried no more: their jobs may be another worker's by now."""
        late = [settlement for settlement in self._unsettled if now >= settlement.lease.ends]
        self._unsettled = [settlement for settlement in self._unsettled if now < settlement.lease.ends]
        return late

    def step(self, now: float) -> Step:
        """What to do now."""
        busy = bool(self._running or self._unsettled)
        if self._stops and not busy:
            return End()
        if now >= self._leave_at:
            return Leave(tuple(self._unsettled), tuple(lease for lease in self._running if lease.is_ours(now)))
        if now < self._quiet_until:
            return Sleep(min(self._quiet_until, self._leave_at), watch=False)
        pop = self._pop()
        if self._unsettled or pop is not None:
            return Exchange(tuple(self._unsettled), pop)
        if self._burst and not busy:
            return End()
        return Sleep(self._leave_at, watch=self._room() > 0)

    def _pop(self) -> Pop | None:
        if self._next_queue == len(self._queues) or self._room() == 0:
            return None
        return Pop(self._queues[self._next_queue], self._worker, self._room())

    def _room(self) -> int:
        return 0 if self._stops else self._slots - len(self._running)

    def _popped(self, pop: Pop, answer: Outcome, asked: float) -> list[Lease]:
        started = [new_lease(job, asked) for job in answer.reply]
        self._running.update(started)
        self.done += len(started)
        if len(started) < pop.count:
            self._next_queue += 1
        return started
