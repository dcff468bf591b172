"""The engine's clock: it never goes back, and a stepped wall clock or a suspended machine cannot expire a lease.

The database keeps one reading: which boot of the machine it was, its monotonic clock, and the engine's time then. From that
and the clocks now, ``tell`` decides the time, without any state of its own, so all processes agree.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

STEP = 1.0
"""Seconds by which the wall clock may run ahead of the monotonic one before it counts as a step."""

REFRESH = 1.0
"""Seconds after which a writer stores a new reading."""


class Reading(NamedTuple):
    """What the clocks said at one moment. ``now`` is the engine's time where it was stored, the wall's where it was read."""

    boot_id: str
    monotonic: float
    now: float


class Told(NamedTuple):
    """The engine's time, by how much running leases move, and whether the reading should be stored."""

    now: float
    shift: float
    refresh: bool


def tell(stored: Reading, read: Reading) -> Told:
    """The engine's time.

    On the same boot, time goes on with the monotonic clock at least, and follows the wall where that is ahead. A wall that is
    ahead by more than STEP was stepped, or the machine was suspended: leases are shifted, since their workers had none of
    that time. On another boot no worker of then lives, and time is the wall's, but never earlier than stored.
    """
    if stored.boot_id != read.boot_id:
        return Told(max(stored.now, read.now), 0.0, refresh=True)
    elapsed = max(0.0, read.monotonic - stored.monotonic)
    steady = stored.now + elapsed
    ahead = read.now - steady
    if ahead > STEP:
        return Told(read.now, ahead, refresh=True)
    return Told(max(steady, read.now), 0.0, refresh=elapsed > REFRESH)


def read_clocks() -> Reading:
    """The machine's clocks now. CLOCK_MONOTONIC stands still while Linux is suspended, as running jobs do."""
    return Reading(boot_id(), time.monotonic(), time.time())


def boot_id() -> str:
    """A text that changes with each boot of the machine; empty where the machine does not tell."""
    return _BOOT_ID


def _read_boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


_BOOT_ID = _read_boot_id()
