"""The clocks of a process: the system's, and one that tests turn by hand.

Engines keep the queue's time (`now`); this is for what a process measures by itself: sleeping, timeouts, renewals.
"""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What time it is."""

    def now(self) -> float | None:
        """The ``now`` to pass to the engine in seconds since the epoch, or None to leave it to the engine's clock."""

    def monotonic(self) -> float:
        """Seconds that only ever go forward."""


class SystemClock:
    """The engine's clock decides; the machine's monotonic clock measures."""

    def now(self) -> float | None:
        return None

    def monotonic(self) -> float:
        return time.monotonic()


class ManualClock:
    """Stands still until it is turned."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start

    def now(self) -> float | None:
        return self._now

    def monotonic(self) -> float:
        return self._now

    def advance(self, seconds: float) -> float:
        """Turn the clock on; the new time."""
        self._now += seconds
        return self._now
