"""When recurring jobs are due. Due times advance from the due time, never from now: a late pop shifts nothing."""

from __future__ import annotations

import math
from typing import NamedTuple


class Due(NamedTuple):
    """The due times to spawn now, oldest first, and the one after them."""

    times: tuple[float, ...]
    next_due: float


def due_times(next_due: float, interval: float, now: float, backlog: int, limit: int) -> Due:
    """What is due at ``now``: every missed time, at most ``limit``; with a ``backlog`` above 0, none that is more than that many
    intervals back. A time is ``next_due + n * interval``, so that no rounding adds up within a call."""
    if next_due > now:
        return Due((), next_due)
    missed = _steps(next_due, interval, now)
    skipped = max(0, missed - backlog) if backlog > 0 else 0
    spawned = min(limit, missed + 1 - skipped)
    times = tuple(next_due + (skipped + n) * interval for n in range(spawned))
    return Due(times, next_due + (skipped + spawned) * interval)


def changed_interval(next_due: float, old: float, new: float, now: float) -> float:
    """The next due time once the interval changes: moved by the difference, at most one new interval from now, and never
    further into the past than it was due already."""
    moved = next_due - old + new
    return min(max(moved, min(next_due, now)), now + new)


def _steps(start: float, interval: float, now: float) -> int:
    """The largest n with ``start + n * interval <= now``: the division's rounding is corrected either way."""
    n = math.floor((now - start) / interval)
    while start + (n + 1) * interval <= now:
        n += 1
    while n > 0 and start + n * interval > now:
        n -= 1
    return n
