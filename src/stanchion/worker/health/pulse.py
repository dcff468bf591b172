"""The pulse of a worker: when it last did what it must go on doing."""

from __future__ import annotations

import time

RED_SECONDS = 8.0
"""What a worker has not done for so long, it has stopped doing: it is red within ten seconds."""

ASK_SECONDS = 3.0
"""The store is asked something at least so often, where it matters whether it answers."""


class Pulse:
    """Told by the parts of a worker what they do, on whatever thread."""

    def __init__(self) -> None:
        self._moved = self._heard = time.monotonic()

    def move(self) -> None:
        """The main thread goes on."""
        self._moved = time.monotonic()

    def hear(self) -> None:
        """The store has answered."""
        self._heard = time.monotonic()

    def is_silent(self) -> bool:
        """Has the store said nothing for so long that it should be asked?"""
        return time.monotonic() - self._heard > ASK_SECONDS

    def problems(self) -> list[str]:
        """What is wrong, in words; empty while the worker is well."""
        now = time.monotonic()
        found = []
        if now - self._moved > RED_SECONDS:
            found.append(f"the worker has not moved for {now - self._moved:.0f} s")
        if now - self._heard > RED_SECONDS:
            found.append(f"the store has not answered for {now - self._heard:.0f} s")
        return found
