"""A queue's day of statistics, as its three hashes hold it."""

from __future__ import annotations

from collections.abc import Mapping

from stanchion.engine.redis.fields import number_of
from stanchion.engine.redis.snapshot import Snapshot
from stanchion.records import QueueStats, Timing
from stanchion.rules.histogram import BUCKETS, LABELS
from stanchion.rules.moments import Moments


def day_and_queue(name: str) -> tuple[int, str] | None:
    """The day and queue that a key's name ``<day>:<queue>`` says; None if it says neither."""
    day, colon, queue = name.partition(":")
    number = number_of(day)
    return (int(number), queue) if colon and number is not None else None


def stats_of(snapshot: Snapshot, name: str, *, with_histograms: bool = True) -> QueueStats:
    """The statistics of a day and queue."""
    counters = snapshot.get("counters", name)
    return QueueStats(
        wait=_timing(snapshot.get("wait", name), with_histograms),
        run=_timing(snapshot.get("run", name), with_histograms),
        retries=_whole(counters, "retries"),
        failures=_whole(counters, "failures"),
        failed=_whole(counters, "failed"),
    )


def moments_of(raw: Mapping[str, str]) -> Moments:
    """How many durations there were, their mean, and the sum of their squared distances from it."""
    return Moments(_whole(raw, "total"), _number(raw, "mean"), max(0.0, _number(raw, "vk")))


def _timing(raw: Mapping[str, str], drawn: bool) -> Timing:
    moments = moments_of(raw)
    histogram = tuple(_whole(raw, label) for label in LABELS) if drawn else (0,) * BUCKETS
    return Timing(moments.n, moments.mean, moments.std, histogram)


def _number(raw: Mapping[str, str], field: str) -> float:
    return number_of(raw.get(field)) or 0.0


def _whole(raw: Mapping[str, str], field: str) -> int:
    return int(_number(raw, field))
