"""UTC days, named by their midnight in seconds since the epoch."""

from __future__ import annotations

DAY = 86400

EARLIEST = -(2**53)
"""Before any time that the queue knows: nothing older than for ever is kept."""


def day_of(when: float) -> int:
    """The midnight that starts the UTC day of ``when``."""
    return int(when // DAY) * DAY


def oldest_kept(now: float, days: int) -> int:
    """The oldest day of statistics that is kept: today is the first of ``days``."""
    return max(EARLIEST, day_of(now) - max(0, days - 1) * DAY)
