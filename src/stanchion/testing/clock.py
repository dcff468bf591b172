"""A clock that stands still until it is turned by hand."""

from __future__ import annotations


class Clock:
    """The time of a test, in seconds since the epoch."""

    def __init__(self, now: float) -> None:
        self.now = now

    def advance(self, seconds: float) -> None:
        """Turn the clock forward. ValueError if that is back."""
        if seconds < 0:
            raise ValueError(f"a clock only goes forward, not by {seconds} s")
        self.now += seconds
