"""The histogram of waits and runs: 60 buckets of a second, 59 of a minute, 23 of an hour, 6 of a day.

The widths are those of the Qless queues in production, whose labels (``s0``…``d6``) the Redis engine keeps as hash fields.
"""

from __future__ import annotations

from collections.abc import Sequence

MINUTE, HOUR, DAY = 60, 3600, 86400

# (letter, width in seconds, first multiple, how many)
_RANGES = (("s", 1, 0, 60), ("m", MINUTE, 1, 59), ("h", HOUR, 1, 23), ("d", DAY, 1, 6))

STARTS: tuple[int, ...] = tuple(width * (first + n) for _, width, first, many in _RANGES for n in range(many))
"""Where each bucket starts, in seconds; each ends where the next starts, the last never."""

LABELS: tuple[str, ...] = tuple(f"{letter}{first + n}" for letter, _, first, many in _RANGES for n in range(many))

BUCKETS = len(STARTS)


def bucket(seconds: float) -> int:
    """The bucket that a duration falls in: negative ones in the first, those beyond six days in the last."""
    if seconds < MINUTE:
        return max(0, int(seconds))
    if seconds < HOUR:
        return 59 + int(seconds // MINUTE)
    if seconds < DAY:
        return 118 + int(seconds // HOUR)
    return min(BUCKETS - 1, 141 + int(seconds // DAY))


def quantile(histogram: Sequence[int], q: float) -> float:
    """The start, in seconds, of the bucket that holds the ``q``-th part (0 to 1) of the durations; 0 if there are none."""
    rank = q * sum(histogram)
    seen = 0
    for start, count in zip(STARTS, histogram, strict=True):
        seen += count
        if count and seen >= rank:
            return float(start)
    return 0.0
