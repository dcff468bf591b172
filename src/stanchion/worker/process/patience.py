"""How long a child is left alone with its job: told first, killed after a grace. No I/O, no clock."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from stanchion.worker.lease import Lease

GRACE = 2.0
"""Seconds that a job has to end after it was told that its time is over, or its lock lost."""

Reason = Literal["late", "lost"]


class Leave(NamedTuple):
    """Leave it alone until then."""

    until: float


class Tell(NamedTuple):
    """Tell it."""

    reason: Reason


class Kill(NamedTuple):
    """Kill it."""

    reason: Reason


@dataclass
class Patience:
    """With one run of a job. A lost lock weighs more than a timeout: nothing that is written then counts."""

    lease: Lease
    grace: float = GRACE
    told: Reason | None = None
    kill_at: float = math.inf

    def step(self, now: float) -> Leave | Tell | Kill:
        """What to do now."""
        if now >= self.kill_at and self.told is not None:
            return Kill(self.told)
        reason = self._reason(now)
        if reason is not None and self.told not in (reason, "lost"):
            self.told = reason
            self.kill_at = min(self.kill_at, now + self.grace)
            return Tell(reason)
        return Leave(min(self.kill_at, self._deadline()))

    def _reason(self, now: float) -> Reason | None:
        if self.lease.lost is not None:
            return "lost"
        return "late" if now >= self._deadline() else None

    def _deadline(self) -> float:
        return math.inf if self.lease.deadline is None or self.told is not None else self.lease.deadline
