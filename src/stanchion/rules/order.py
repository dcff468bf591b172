"""The order of a line: higher priority first, then who could be popped first, then who was put first."""

from __future__ import annotations


def line_key(priority: float, ready_at: float, seq: int) -> tuple[float, float, int]:
    """The sort key of a waiting job: the smallest is popped first."""
    return (-priority, ready_at, seq)
