"""The whole state out of the keys, as every engine shows it: collections from the collections, records from the records.

What the two say of a job is not reconciled here: that they agree is for the invariants to find.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from stanchion.engine.contract import QueueState, StateDump, ThrottleState, WorkerState
from stanchion.engine.redis import replies
from stanchion.engine.redis.jobs import Jobs, number_of, templates_of
from stanchion.engine.redis.layout import BY_QUEUE
from stanchion.engine.redis.snapshot import Snapshot, Talk, read
from stanchion.records import QueueStats, Throttle
from stanchion.rules.config import OPTIONS, ConfigValue, parse_option, setting
from stanchion.rules.days import oldest_kept

_ENDLESS = math.inf


def state(namespace: str, now: float | None = None) -> Talk[StateDump]:
    """The conversation that ends with the whole state under a namespace."""
    return dump((yield from read(namespace)), now)


def dump(snapshot: Snapshot, now: float | None = None) -> StateDump:
    """Everything, as of ``now``; unless given, as of the engine's time when it was read."""
    return _Dump(snapshot, engine_time(snapshot) if now is None else float(now)).whole()


def engine_time(snapshot: Snapshot) -> float:
    """The engine's time: the server's, which never goes back for us."""
    return max(snapshot.time, number_of(snapshot.get("x:engine").get("clock")) or 0.0)


def options_of(snapshot: Snapshot) -> dict[str, ConfigValue]:
    """The options that are set, without those that are broken: for them the default holds."""
    found = {}
    for option, text in snapshot.get("config").items():
        try:
            found[option] = parse_option(option, text)
        except ValueError:
            continue
    return found


class _Dump:
    """What the parts of one dump share."""

    def __init__(self, snapshot: Snapshot, now: float) -> None:
        self._snapshot = snapshot
        self._now = now
        self._jobs = Jobs(snapshot, now)
        self._templates = templates_of(snapshot)

    def whole(self) -> StateDump:
        snapshot = self._snapshot
        return StateDump(
            now=self._now,
            jobs=self._jobs.records,
            recurring=self._templates,
            queues={name: self._queue(name) for name in self._queue_names()},
            workers=self._workers(),
            complete=tuple(self._jobs.newest_first(snapshot.get("completed"))),
            failures={group: self._failed(jids) for group, jids in sorted(snapshot.all("failed").items())},
            tags={tag: in_order(jids) for tag, jids in sorted(snapshot.all("tagged").items())},
            tracked=in_order(snapshot.get("tracked")),
            throttles=dict(self._throttles()),
            stats=self._stats(),
            config={**{name: option.default for name, option in OPTIONS.items()}, **self._options},
        )

    @cached_property
    def _options(self) -> dict[str, ConfigValue]:
        return options_of(self._snapshot)

    def _queue_names(self) -> Iterable[str]:
        snapshot = self._snapshot
        names = [*in_order(snapshot.get("queues")), *sorted(snapshot.get("paused_queues"))]
        names += [job.queue for job in self._jobs.records.values() if job.queue]
        names += [template.queue for template in self._templates.values()]
        names += [name for kind in BY_QUEUE for name in sorted(snapshot.all(kind))]
        return dict.fromkeys(names)

    def _queue(self, name: str) -> QueueState:
        snapshot, jobs, now = self._snapshot, self._jobs, self._now
        work, scheduled, locks = (snapshot.get(kind, name) for kind in ("work", "scheduled", "locks"))
        due = [jid for jid, when in scheduled.items() if when <= now]
        first_in_line = [jid for jid, score in work.items() if score == _ENDLESS]  # so old scripts time jobs out
        return QueueState(
            known=name in snapshot.get("queues"),
            paused=name in snapshot.get("paused_queues"),
            waiting=tuple(jobs.in_line([*(jid for jid, score in work.items() if score != _ENDLESS), *due])),
            running={jid: locks[jid] for jid in jobs.by_time({jid: when for jid, when in locks.items() if when})},
            stalled=tuple(jobs.by_number([*(jid for jid, when in locks.items() if not when), *first_in_line])),
            scheduled={jid: scheduled[jid] for jid in jobs.by_time(scheduled) if scheduled[jid] > now},
            depends=tuple(jobs.by_age(snapshot.get("depends", name))),
            throttled=tuple(jobs.by_age(snapshot.get("throttled", name))),
            recurring=dict(sorted(snapshot.get("recur", name).items(), key=lambda one: (one[1], one[0]))),
        )

    def _workers(self) -> dict[str, WorkerState]:
        oldest = self._now - setting(self._options, "max-worker-age")
        return {
            name: WorkerState(seen, tuple(sorted(self._snapshot.get("held_by", name))))
            for name, seen in sorted(self._snapshot.get("workers").items())
            if seen >= oldest
        }

    def _failed(self, jids: list[str]) -> tuple[str, ...]:
        return tuple(self._jobs.newest_failed_first(jids))

    def _throttles(self) -> Iterable[tuple[str, ThrottleState]]:
        """Those that limit, hold or delay anything."""
        snapshot, jobs = self._snapshot, self._jobs
        names = {name for kind in ("throttle", "places", "pending") for name in snapshot.all(kind)}
        for name in sorted(names):
            state = ThrottleState(
                self._limit(name),
                tuple(jobs.by_time(snapshot.get("places", name))),
                tuple(jobs.in_line(snapshot.get("pending", name))),
            )
            if state.throttle.maximum or state.locks or state.pending:
                yield name, state

    def _limit(self, name: str) -> Throttle:
        raw = self._snapshot.get("throttle", name)
        expires = throttle_expires(self._snapshot, name)
        if expires and expires <= self._now:
            return Throttle(name)
        return Throttle(name, int(number_of(raw.get("maximum")) or 0), expires - self._now if expires else None)

    def _stats(self) -> dict[str, dict[int, QueueStats]]:
        snapshot = self._snapshot
        kept = oldest_kept(self._now, int(setting(self._options, "stats-history")))
        drawn = oldest_kept(self._now, int(setting(self._options, "histogram-history")))
        found: dict[str, dict[int, QueueStats]] = defaultdict(dict)
        for name in sorted({name for kind in ("wait", "run", "counters") for name in snapshot.all(kind)}):
            day, queue = day_and_queue(name) or (kept - 1, "")
            wait, run, counters = (snapshot.get(kind, name) for kind in ("wait", "run", "counters"))
            stats = replies.stats_of(wait, run, counters, day >= drawn)
            if day >= kept and stats != QueueStats():
                found[queue][day] = stats
        return dict(found)


def day_and_queue(name: str) -> tuple[int, str] | None:
    """The day and queue that a name of statistics, ``<day>:<queue>``, says; None if it says neither."""
    day, colon, queue = name.partition(":")
    number = number_of(day)
    return (int(number), queue) if colon and number is not None else None


def throttle_expires(snapshot: Snapshot, name: str) -> float:
    """When a limit ends, 0 for never: as its field says, or as old scripts had the server do it."""
    key = f"{snapshot.namespace}th:{name}"
    return snapshot.expiring.get(key) or number_of(snapshot.get("throttle", name).get("x-expires")) or 0.0


def in_order(scores: dict[str, float]) -> tuple[str, ...]:
    """The members of a sorted set, in its order."""
    return tuple(sorted(scores, key=lambda member: (scores[member], member)))
