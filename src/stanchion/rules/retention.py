"""What is forgotten, and when."""

from __future__ import annotations


def history_excess(length: int, limit: int) -> int:
    """How many history entries go, all from right behind the first, which always stays. A limit of 0 or less is none."""
    return max(0, length - max(limit, 1)) if limit > 0 else 0
