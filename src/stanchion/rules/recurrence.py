"""When recurring jobs are due. Due times advance from the due time, never from now: a late pop shifts nothing.

All but the first are whole microseconds: a float holds those of our centuries exactly enough that they are found again
after any number of steps, so that an interval of 0.1 s is ten times a second for ever (added up plainly, it loses one
second in ten days). A third of a second is 333,333 microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

SHORTEST_INTERVAL = 0.001
"""Seconds. Much below, two due times in a row would be one and the same float, and no time would ever be the next."""


class Due(NamedTuple):
    """The due times to spawn now, oldest first, and the one after them."""

    times: tuple[float, ...]
    next_due: float


def due_time(first: float, interval: float, n: int) -> float:
    """The time ``n`` intervals after ``first``."""
    return _whole(first + n * interval) if n else first


def due_times(next_due: float, interval: float, now: float, backlog: int, limit: int) -> Due:
    """What is due at ``now``: every missed time, at most ``limit``; with a ``backlog`` above 0, none that is further back than
    that many intervals."""
    if next_due > now:
        return Due((), next_due)
    missed = _steps(next_due, interval, now) + 1
    skipped = _too_old(next_due, interval, _whole(now - backlog * interval)) if backlog > 0 else 0
    spawned = max(0, min(limit, missed - skipped))
    times = tuple(due_time(next_due, interval, skipped + n) for n in range(spawned))
    return Due(times, due_time(next_due, interval, skipped + spawned))


def free_number(count: int, is_taken: Callable[[int], bool]) -> int:
    """A number above ``count`` that is free, though the one before it is taken or ``count`` itself: found in few questions.

    Mostly it is the next. Where very many are taken, as those of a schedule that was begun anew, steps double until one is free,
    and then are halved.
    """
    low, step = count, 1
    while is_taken(low + step):
        low, step = low + step, step * 2
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_taken(middle) else (low, middle)
    return high


def changed_interval(next_due: float, old: float, new: float, now: float) -> float:
    """The next due time once the interval changes: moved by the difference, at most one new interval from now, and never
    further into the past than it was due already. The same interval again changes nothing."""
    if new == old:
        return next_due
    moved = _whole(next_due - old + new)
    return min(max(moved, min(next_due, now)), now + new)


def _too_old(next_due: float, interval: float, oldest: float) -> int:
    """How many due times are before ``oldest``."""
    if next_due >= oldest:
        return 0
    n = _steps(next_due, interval, oldest)
    return n if due_time(next_due, interval, n) == oldest else n + 1


def _steps(first: float, interval: float, when: float) -> int:
    """The largest n whose due time is not after ``when``: the division's rounding is corrected either way."""
    n = math.floor((when - first) / interval)
    while due_time(first, interval, n + 1) <= when:
        n += 1
    while n > 0 and due_time(first, interval, n) > when:
        n -= 1
    return n


def _whole(seconds: float) -> float:
    # By its decimal digits, not by a factor of a million: so that %.6f in Lua gives the same float.
    return round(seconds, 6)
