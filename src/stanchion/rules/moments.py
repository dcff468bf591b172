"""Mean and deviation of a stream of values, without keeping them."""

from __future__ import annotations

import math
from typing import NamedTuple


class Moments(NamedTuple):
    """How many values there were, their mean, and the sum of their squared distances from it."""

    n: int = 0
    mean: float = 0.0
    m2: float = 0.0

    def add(self, value: float) -> Moments:
        """The moments with one more value: B. P. Welford's update (Technometrics 4, 1962), stable in floats."""
        n = self.n + 1
        distance = value - self.mean
        mean = self.mean + distance / n
        return Moments(n, mean, self.m2 + distance * (value - mean))

    @property
    def std(self) -> float:
        """The sample deviation (n - 1); 0 below two values."""
        return math.sqrt(self.m2 / (self.n - 1)) if self.n > 1 else 0.0
