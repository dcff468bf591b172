"""What a worker does next, given what has happened and the time. No I/O, no clock, no threads: the driver is in ``worker``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from stanchion.commands import Command, Pop, Timeout
from stanchion.engine.contract import Outcome
from stanchion.errors import DiskFull, OutcomeUnknown, Refused, Retryable
from stanchion.worker.lanes import Lane
from stanchion.worker.lease import Lease, new_lease

TROUBLE_SECONDS = 0.5
"""The pause after the store could not do what it was asked."""

PASSING = (Retryable, OutcomeUnknown, DiskFull)
"""Errors that may be over in a while. Attempt numbers make it harmless to repeat what had happened after all."""


class Settlement(NamedTuple):
    """What settles a job, and the lease under which it may be settled."""

    command: Command[Any]
    lease: Lease


class LanePop(NamedTuple):
    """A pop, and the number of the lane that it is for."""

    lane: int
    pop: Pop


class Exchange(NamedTuple):
    """Make one round trip: settle what is to be settled, and pop, for each lane that has room."""

    settlements: tuple[Settlement, ...]
    pops: tuple[LanePop, ...]

    @property
    def commands(self) -> list[Command[Any]]:
        """What is run, in order."""
        return [*(settlement.command for settlement in self.settlements), *(pop for _, pop in self.pops)]


class Sleep(NamedTuple):
    """Sleep until something happens, or until then; ``watch``: a job in a queue of one of these lanes is something."""

    until: float
    watch: tuple[int, ...] = ()


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


class Started(NamedTuple):
    """A job to start, on which lane."""

    lane: int
    lease: Lease


class Heard(NamedTuple):
    """What the answers to an exchange mean: jobs to start, settlements that were refused, what else went wrong."""

    started: list[Started]
    refused: list[tuple[Settlement, BaseException]]
    trouble: BaseException | None


class _Line:
    """A lane as the loop sees it: what runs on it, and which of its queues is looked at next."""

    def __init__(self, lane: Lane) -> None:
        self.queues = lane.queues
        self.slots = lane.slots
        self.running: set[Lease] = set()
        self.next_queue = 0

    @property
    def room(self) -> int:
        return max(0, self.slots - len(self.running))

    @property
    def looks(self) -> bool:
        return self.next_queue < len(self.queues)


class Loop:
    """Tell it what happens, and ask it for the next step.

    A lane's queues are looked at in their order: the first must be found empty before the second is popped from. Each event
    that may bring work, or makes room, starts again at the first. Lanes do not wait for one another. After ``most`` jobs no
    more are taken, and the loop ends as if it had been told to stop.
    """

    def __init__(
        self, worker: str, lanes: Sequence[Lane], stop_seconds: float, *, burst: bool = False, most: float = math.inf
    ) -> None:
        self._worker = worker
        self._lines = [_Line(lane) for lane in lanes]
        self._stop_seconds = stop_seconds
        self._burst = burst
        self._most = most
        self._unsettled: list[Settlement] = []
        self._quiet_until = -math.inf
        self._stops = 0
        self._quiet = False
        self._leave_at = math.inf
        self.done = 0
        """How many jobs were started."""

    @property
    def running(self) -> int:
        """How many jobs run."""
        return sum(len(line.running) for line in self._lines)

    @property
    def leases(self) -> tuple[Lease, ...]:
        """The leases of the jobs that run."""
        return tuple(lease for line in self._lines for lease in line.running)

    def look(self) -> None:
        """There may be something to pop."""
        for line in self._lines:
            line.next_queue = 0

    def finished(self, lease: Lease, commands: Sequence[Command[Any]]) -> None:
        """A job's code is over; the commands settle the job, if that is left to do."""
        for line in self._lines:
            line.running.discard(lease)
        self.look()
        self._unsettled += [Settlement(command, lease) for command in commands]

    def stop(self, now: float) -> None:
        """Take no more jobs; a second time: leave at once."""
        self._stops += 1
        self._leave_at = min(self._leave_at, now + self._stop_seconds if self._stops == 1 else now)

    def be_quiet(self) -> None:
        """Take no more jobs, but do not end."""
        self._quiet = True

    def scale(self, by: int) -> int:
        """Let the first lane run so many more jobs at once, or fewer, one at the least; how many it may run now."""
        line = self._lines[0]
        line.slots = max(1, line.slots + by)
        self.look()
        return line.slots

    def answered(self, exchange: Exchange, answers: Sequence[Outcome], asked: float, now: float) -> Heard:
        """The exchange was made; it was begun at ``asked``."""
        self._unsettled = []
        heard = Heard([], [], None)
        settled = len(exchange.settlements)
        for settlement, answer in zip(exchange.settlements, answers, strict=False):
            if isinstance(answer.error, Refused) and not isinstance(answer.error, PASSING):
                heard.refused.append((settlement, answer.error))
            elif answer.error is not None:
                self._unsettled.append(settlement)
                heard = heard._replace(trouble=answer.error)
        for (lane, pop), answer in zip(exchange.pops, answers[settled:], strict=False):
            if answer.error is None:
                heard.started.extend(self._popped(lane, pop, answer, asked))
            else:
                heard = heard._replace(trouble=answer.error)
        if heard.trouble is not None:
            self._quiet_until = now + TROUBLE_SECONDS
        return heard

    def unreachable(self, now: float) -> None:
        """The exchange could not be made; all of it is tried again."""
        self._quiet_until = now + TROUBLE_SECONDS

    def left(self) -> None:
        """What ``Leave`` asked for was done, or tried."""
        for line in self._lines:
            line.running.clear()
        self._unsettled.clear()

    def give_up(self, now: float) -> list[Settlement]:
        """The settlements that come too late, which are tried no more: their jobs may be another worker's by now."""
        late = [settlement for settlement in self._unsettled if now >= settlement.lease.ends]
        self._unsettled = [settlement for settlement in self._unsettled if now < settlement.lease.ends]
        return late

    def step(self, now: float) -> Step:
        """What to do now."""
        busy = bool(self.running or self._unsettled)
        if (self._stops or self.done >= self._most) and not busy:
            return End()
        if now >= self._leave_at:
            return Leave(tuple(self._unsettled), tuple(lease for lease in self.leases if lease.is_ours(now)))
        if now < self._quiet_until:
            return Sleep(min(self._quiet_until, self._leave_at))
        pops = self._pops()
        if self._unsettled or pops:
            return Exchange(tuple(self._unsettled), pops)
        if self._burst and not busy:
            return End()
        return Sleep(self._leave_at, self._with_room())

    def _pops(self) -> tuple[LanePop, ...]:
        left = self._most - self.done
        pops: list[LanePop] = []
        for number in self._with_room():
            line = self._lines[number]
            count = int(min(line.room, left))
            if line.looks and count > 0:
                left -= count
                pops.append(LanePop(number, Pop(line.queues[line.next_queue], self._worker, count)))
        return tuple(pops)

    def _with_room(self) -> tuple[int, ...]:
        if self._stops or self._quiet or self.done >= self._most:
            return ()
        return tuple(number for number, line in enumerate(self._lines) if line.room)

    def _popped(self, lane: int, pop: Pop, answer: Outcome, asked: float) -> list[Started]:
        line = self._lines[lane]
        leases = [new_lease(job, asked) for job in answer.reply]
        line.running.update(leases)
        self.done += len(leases)
        if len(leases) < pop.count:
            line.next_queue += 1
        return [Started(lane, lease) for lease in leases]
