"""How long to wait before the next try. Attempts count from 1; every answer is in seconds.

A backoff is any function of the attempt: one of these, or the user's own. ``delay_after`` is how to ask it.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass

Backoff = Callable[[int], float]
"""The number of the attempt that failed → seconds until the next."""

MAX_DELAY = 86400.0
"""The cap that applies where none is given: a day."""

LONGEST_DELAY = 366 * 86400.0
"""The longest delay that any backoff is taken for, the user's own functions too: a year."""


def delay_after(backoff: Backoff, attempt: int) -> float:
    """What a backoff says, as a delay that a queue takes: 0 for what is negative or not a number, a year at most.

    Raises what the user's function raises, and TypeError or ValueError where its answer is no number.
    """
    delay = float(backoff(attempt))
    return 0.0 if math.isnan(delay) else min(max(delay, 0.0), LONGEST_DELAY)


@dataclass(frozen=True)
class Constant:
    """Always the same."""

    seconds: float

    def __call__(self, attempt: int) -> float:
        return self.seconds


@dataclass(frozen=True)
class Linear:
    """A step more each time, up to ``cap``."""

    step: float
    cap: float = MAX_DELAY

    def __call__(self, attempt: int) -> float:
        return min(self.cap, self.step * attempt)


@dataclass(frozen=True)
class Exponential:
    """``base``, then ``factor`` times as long each time, up to ``cap``; ``jitter`` (0 to 1) is the part drawn at random, so
    that jobs which failed together do not come back together."""

    base: float = 1.0
    factor: float = 2.0
    cap: float = 600.0
    jitter: float = 0.25

    def __call__(self, attempt: int) -> float:
        delay = min(self.cap, self.base * _power(self.factor, attempt - 1))
        return delay * (1 - self.jitter * random.random())


def _power(factor: float, exponent: int) -> float:
    try:
        return float(factor) ** exponent
    except OverflowError:
        # Not infinity: 0 times that would be no number.
        return sys.float_info.max
