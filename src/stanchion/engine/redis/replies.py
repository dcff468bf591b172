"""Raw replies (bytes, integers, lists, None) as records. What a damaged field cannot say is read as its default."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from stanchion.records import (
    Failure,
    HistoryEntry,
    Job,
    JobPage,
    QueueCounts,
    QueueStats,
    RecurringJob,
    Throttle,
    Timing,
    TrackedJobs,
    WorkerCounts,
    WorkerJobs,
)
from stanchion.rules.histogram import LABELS
from stanchion.rules.moments import Moments
from stanchion.states import State

T = TypeVar("T")

RETRIES = 5
"""Retries of a job that was put without saying how many: they are not written."""

_names = msgspec.json.Decoder(tuple[str, ...])
_entry = msgspec.json.Decoder(tuple[float, str, dict[str, Any]])
_short_entry = msgspec.json.Decoder(tuple[float, str])
_old_entries = msgspec.json.Decoder(list[dict[str, Any]])
_failure = msgspec.json.Decoder(Failure)

Fields = dict[str, str]


def nothing(raw: Any) -> None:
    """For commands that say no more than that they were done."""


def text(raw: Any) -> str:
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)


def optional_text(raw: Any) -> str | None:
    return None if raw is None else text(raw)


def texts(raw: Any) -> tuple[str, ...]:
    return tuple(map(text, raw))


def number(raw: Any) -> float:
    return float(raw)


def pairs(raw: Any) -> Fields:
    """A flat list of fields and values."""
    flat = texts(raw)
    return dict(zip(flat[::2], flat[1::2], strict=True))


def job(raw: Any) -> Job:
    """A job from its parts: jid, fields, history, dependencies, dependents, tracked."""
    jid, fields, history, dependencies, dependents, tracked = raw
    return job_of(text(jid), pairs(fields), texts(history), texts(dependencies), texts(dependents), bool(tracked))


def job_of(
    jid: str,
    fields: Fields,
    history: tuple[str, ...] = (),
    dependencies: tuple[str, ...] = (),
    dependents: tuple[str, ...] = (),
    tracked: bool = False,
) -> Job:
    """The record of a job from the fields of its hash, and what other keys hold of it."""
    retries = _whole(fields, "retries", RETRIES)
    state = fields.get("state", "")
    return Job(
        jid=jid,
        klass=fields.get("klass", "?"),
        data=fields.get("data", "null"),
        queue=fields.get("queue", ""),
        state=State(state) if state in State.__members__.values() else State.FAILED,
        worker=fields.get("worker", ""),
        expires=_number(fields, "expires"),
        priority=_number(fields, "priority"),
        retries=retries,
        remaining=_whole(fields, "remaining", retries),
        tags=names(fields.get("tags")),
        dependencies=tuple(sorted(dependencies)),
        dependents=tuple(sorted(dependents)),
        throttles=names(fields.get("throttles")),
        tracked=tracked,
        spawned_from_jid=fields.get("spawned_from_jid") or None,
        failure=failure(fields.get("failure")),
        history=_history(history, fields.get("history")) or _put_alone(fields),
        attempt=_whole(fields, "x-attempt", 0),
        result=fields.get("x-result"),
        on_dependency_failure=_policy(fields),
        due=_number(fields, "x-due"),
        ready_at=_number(fields, "x-ready", _number(fields, "time")),
        popped_at=_number(fields, "x-popped"),
        grace=fields.get("grace") == "1",
    )


def jobs(raw: Any) -> tuple[Job, ...]:
    return tuple(map(job, raw))


def optional_job(raw: Any) -> Job | None:
    return None if raw is None else job(raw)


def tracked(raw: Any) -> TrackedJobs:
    return TrackedJobs(jobs(raw[0]), texts(raw[1]))


def page(raw: Any) -> JobPage:
    return JobPage(int(raw[0]), texts(raw[1]))


def optional_recurring(raw: Any) -> RecurringJob | None:
    return None if raw is None else recurring_of(pairs(raw[0]), number(raw[1]))


def recurring_of(fields: Fields, next_due: float) -> RecurringJob:
    """The record of a recurring job from the fields of its hash."""
    return RecurringJob(
        jid=fields.get("jid", ""),
        klass=fields.get("klass", ""),
        data=fields.get("data", "null"),
        queue=fields.get("queue", ""),
        interval=_number(fields, "interval", 60.0),
        next_due=next_due,
        priority=_number(fields, "priority"),
        tags=names(fields.get("tags")),
        retries=_whole(fields, "retries", 0),
        backlog=_whole(fields, "backlog", 0),
        throttles=names(fields.get("throttles")),
        count=_whole(fields, "count", 0),
    )


def counts(raw: Any) -> QueueCounts:
    name, waiting, running, stalled, scheduled, depends, throttled, recurring, paused = raw
    return QueueCounts(text(name), waiting, running, stalled, scheduled, depends, throttled, recurring, bool(paused))


def all_counts(raw: Any) -> tuple[QueueCounts, ...]:
    return tuple(map(counts, raw))


def stats(raw: Any) -> QueueStats:
    """A queue's day from the fields of wait, run and counters, and whether its histograms are kept still."""
    wait, run, counters, drawn = raw
    return stats_of(pairs(wait), pairs(run), pairs(counters), bool(drawn))


def stats_of(wait: Fields, run: Fields, counters: Fields, drawn: bool) -> QueueStats:
    """A queue's day from the fields of its three hashes."""
    return QueueStats(
        wait=_timing(wait, drawn),
        run=_timing(run, drawn),
        retries=_whole(counters, "retries", 0),
        failures=_whole(counters, "failures", 0),
        failed=_whole(counters, "failed", 0),
    )


def groups(raw: Any) -> dict[str, int]:
    return {group: int(count) for group, count in sorted(pairs_of_numbers(raw))}


def pairs_of_numbers(raw: Any) -> list[tuple[str, int]]:
    """A flat list of names and numbers."""
    return [(text(name), int(count)) for name, count in zip(raw[::2], raw[1::2], strict=True)]


def workers(raw: Any) -> tuple[WorkerCounts, ...]:
    found = [WorkerCounts(text(name), int(running), int(lapsed), float(seen)) for name, running, lapsed, seen in raw]
    return tuple(sorted(found, key=lambda worker: (-worker.seen, worker.name)))


def jobs_of_worker(raw: Any) -> WorkerJobs:
    return WorkerJobs(texts(raw[0]), texts(raw[1]))


def throttle(raw: Any) -> Throttle:
    name, maximum, ttl = raw
    return Throttle(text(name), int(maximum), None if ttl is None else float(ttl))


def throttles(raw: Any) -> tuple[Throttle, ...]:
    return tuple(sorted(map(throttle, raw), key=lambda one: one.id))


def names(value: str | None) -> tuple[str, ...]:
    """A JSON list of names; Lua clients write an empty one as an object."""
    return () if value in (None, "", "[]", "{}") else _readable(_names.decode, value, ())


def failure(value: str | None) -> Failure | None:
    """The last failure; an empty object where there was none."""
    return None if value in (None, "", "{}") else _readable(_failure.decode, value, None)


def _history(entries: tuple[str, ...], old: str | None) -> tuple[HistoryEntry, ...]:
    """The entries of the list; those that cannot be read are left out. Jobs of long ago keep them in a field."""
    before: tuple[HistoryEntry, ...] = ()
    if old:
        before = _readable(_old_history, old, before)
    found = (_readable(_entry_of, entry, None) for entry in entries)
    return (*before, *(entry for entry in found if entry is not None))


def _put_alone(fields: Fields) -> tuple[HistoryEntry, ...]:
    """The history of a job that was put, and nothing more: no list tells it."""
    if "time" not in fields:
        return ()
    return (HistoryEntry("put", _number(fields, "time"), {"q": fields.get("queue", "")}),)


def _entry_of(value: str) -> HistoryEntry:
    """An entry; old scripts leave the third part out where there is no more to say."""
    try:
        when, what, more = _entry.decode(value)
    except msgspec.ValidationError:
        (when, what), more = _short_entry.decode(value), {}
    return HistoryEntry(what, when, more)


def _old_history(value: str) -> tuple[HistoryEntry, ...]:
    """Each entry told of one stay in a queue: when it was put there, popped, and done or failed."""
    found = []
    for stay in _old_entries.decode(value):
        for what, key in (("put", "q"), ("popped", "worker"), ("done", ""), ("failed", "worker")):
            when = stay.get(what)
            if isinstance(when, int | float):
                found.append(HistoryEntry(what, float(when), {key: stay[key]} if key in stay else {}))
    return tuple(found)


def _timing(fields: Fields, drawn: bool) -> Timing:
    moments = Moments(_whole(fields, "total", 0), _number(fields, "mean"), _number(fields, "vk"))
    histogram = tuple(_whole(fields, label, 0) if drawn else 0 for label in LABELS)
    return Timing(moments.n, moments.mean, moments.std, histogram)


def _policy(fields: Fields) -> Any:
    policy = fields.get("x-policy", "wait")
    return policy if policy in ("wait", "run", "fail", "cancel") else "wait"


def _number(fields: Fields, name: str, default: float = 0.0) -> float:
    value = fields.get(name)
    if not value:
        return default
    found = _readable(float, value, default)
    return found if math.isfinite(found) else default


def _whole(fields: Fields, name: str, default: int) -> int:
    return int(_number(fields, name, float(default)))


def _readable(read: Callable[[str], T], value: Any, otherwise: T) -> T:
    try:
        return read(value)
    except (msgspec.MsgspecError, ValueError, TypeError):
        return otherwise
