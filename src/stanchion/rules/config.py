"""The options that the queue knows: defaults, kinds, units, as data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

MOST = 2**53
"""The largest number that any engine is given: beyond it whole numbers are no longer exact, and storages overflow."""

ConfigValue = float | str
"""The value of an option: a number for those that are numbers, a text for the rest."""


class Option(NamedTuple):
    """An option: its default and what it means. A default that is a text makes a text option."""

    default: ConfigValue
    meaning: str


OPTIONS: dict[str, Option] = {
    "application": Option("qless", "the name of the application, shown to people"),
    "heartbeat": Option(60, "seconds that a lock lasts"),
    "grace-period": Option(10, "seconds that a lapsed lock's worker still has after it was told; 0 or less: none"),
    "jobs-history": Option(604800, "seconds that complete jobs are kept"),
    "jobs-history-count": Option(50000, "how many complete jobs are kept"),
    "max-job-history": Option(100, "entries kept in a job's history; 0 or less: no limit"),
    "max-worker-age": Option(86400, "seconds after which an unseen worker is dropped"),
    "stats-history": Option(30, "days that summaries of statistics are kept"),
    "histogram-history": Option(7, "days that histograms are kept"),
    "max-pop-retry": Option(1, "kept for old clients: pop looks on until its count is reached"),
}

QUEUE_OPTIONS: dict[str, Option] = {
    "heartbeat": Option(60, "seconds that a lock in this queue lasts; else the general one"),
    "max-concurrency": Option(0, "how many jobs of this queue may run at once; 0: no limit"),
    "max-pop-retry": Option(1, "kept for old clients"),
}
"""Options of one queue, stored as ``<queue>-<option>``."""


def option_of(name: str) -> Option | None:
    """The option of that name, general or of a queue; None if nobody knows it."""
    if name in OPTIONS:
        return OPTIONS[name]
    return next((option for suffix, option in QUEUE_OPTIONS.items() if name.endswith(f"-{suffix}")), None)


def parse_option(name: str, value: Any) -> ConfigValue:
    """The value in its one form; ValueError where a numeric option is given something else. Unknown options are texts."""
    option = option_of(name)
    if option is None or isinstance(option.default, str):
        return _text(value)
    return _number(value)


def setting(config: Mapping[str, ConfigValue], name: str) -> float:
    """A numeric option: what was set, else its default."""
    value = config.get(name, OPTIONS[name].default)
    return float(value)


def queue_setting(config: Mapping[str, ConfigValue], queue: str, name: str) -> float:
    """A numeric option of a queue: its own, else the general one of that name, else the default."""
    own = config.get(f"{queue}-{name}")
    if own is None:
        own = config.get(name) if name in OPTIONS else None
    return float(QUEUE_OPTIONS[name].default if own is None else own)


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"must be a text, not {type(value).__name__}")
    return str(value)


def _number(value: Any) -> float:
    is_one = isinstance(value, str | int | float) and not isinstance(value, bool)
    try:
        number = float(value) if is_one else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= MOST:  # written so that NaN, which is neither less nor more, is refused too
        raise ValueError(f"must be a finite number within 2^53, not {value!r:.100}")
    return int(number) if number.is_integer() else number
