"""Moving house: all that a namespace holds, as it is kept, and writing what another database holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from stanchion.engine.contract import AS_KEPT, MARK, Holdings, StateDump
from stanchion.engine.redis.dump import dump, in_order, options_of, throttle_expires
from stanchion.engine.redis.jobs import jobs_as_kept, number_of
from stanchion.engine.redis.layout import SHARED_ENDINGS, key_of
from stanchion.engine.redis.mending.base import Keys
from stanchion.engine.redis.mending.entries import entries_of, set_of
from stanchion.engine.redis.snapshot import Command, Snapshot, Talk, bytes_of, read, scan
from stanchion.errors import StoreRefused
from stanchion.records import Job, QueueStats, Timing
from stanchion.rules.histogram import LABELS
from stanchion.states import State

Place = tuple[str, str]

_DEFAULTS = Job("", "", "", "", State.WAITING)
_FIELDS = {
    **{
        "priority": "priority",
        "retries": "retries",
        "worker": "worker",
        "expires": "expires",
        "spawned_from_jid": "spawned_from_jid",
    },
    **{
        "x-due": "due",
        "x-popped": "popped_at",
        "x-attempt": "attempt",
        "x-policy": "on_dependency_failure",
        "x-result": "result",
    },
}
"""Fields of the hash that are written if they are not as they are by default, and their names in the record."""


def holdings(namespace: str) -> Talk[Holdings]:
    """Everything, as it is kept."""
    return holdings_of((yield from read(namespace)))


def holdings_of(snapshot: Snapshot) -> Holdings:
    """Everything that a snapshot has."""
    state = dump(snapshot, AS_KEPT)
    jobs = jobs_as_kept(snapshot)
    known = in_order(snapshot.get("queues"))
    paused = set(snapshot.get("paused_queues"))
    return Holdings(
        jobs=jobs.records,
        numbers={jid: number for number, jid in enumerate(jobs.records, 1)},
        completed={jid: snapshot.get("completed")[jid] for jid in reversed(state.complete)},
        failed=state.failures,
        tags={tag: {jid: number for number, jid in enumerate(jids, 1)} for tag, jids in state.tags.items()},
        places={
            name: {jid: held[jid] for jid in jobs.by_time(held)} for name, held in sorted(snapshot.all("places").items())
        },
        tracked={jid: snapshot.get("tracked")[jid] for jid in state.tracked},
        templates=state.recurring,
        offsets={jid: number_of(raw.get("x-offset")) or 0.0 for jid, raw in sorted(snapshot.all("template").items())},
        queues={name: (name in known, name in paused) for name in (*known, *sorted(paused - set(known)))},
        workers=dict(sorted(snapshot.get("workers").items())),
        throttles={name: _limit(snapshot, name) for name in sorted(snapshot.all("throttle"))},
        stats=state.stats,
        spreads=_spreads(snapshot, state),
        config={option: value for option, value in sorted(options_of(snapshot).items()) if option != MARK},
        state=state,
    )


def load(namespace: str, part: Holdings, *, mark: str | None, anew: bool = False) -> Talk[None]:
    """Write a part of what another database holds, in one transaction with the mark. To be held on one connection."""
    _refuse_names(namespace, part)
    if anew:
        yield from _clear(namespace)
    marked = ("HSET", ("config", ""), MARK, mark) if mark is not None else ("HDEL", ("config", ""), MARK)
    writer = _Writer(namespace)
    commands = [
        writer.command(*marked),
        *writer.jobs(part),
        *writer.indexes(part),
        *writer.settings(part),
        *writer.stats(part),
    ]
    encoded = [tuple(bytes_of(word) if isinstance(word, str) else word for word in command) for command in commands]
    replies = yield [("MULTI",), *encoded, ("EXEC",)]
    for reply in (*replies[:-1], *(replies[-1] if isinstance(replies[-1], list) else replies[-1:])):
        if isinstance(reply, Exception):
            raise reply


def _clear(namespace: str) -> Talk[None]:
    """Remove everything; the mark goes last, so that what is left of a move that stops half way is known as such."""
    config = bytes_of(key_of(namespace, "config"))
    for keys in (yield from scan(namespace)):
        gone = [key for key in keys if key != config]
        if gone:
            yield [("UNLINK", *gone)]
    yield [("DEL", config)]


def _refuse_names(namespace: str, part: Holdings) -> None:
    names = {
        "job": part.jobs,
        "throttle": {name for job in part.jobs.values() for name in job.throttles} | part.throttles.keys(),
    }
    for kind, endings in SHARED_ENDINGS.items():
        for name in names[kind]:
            if name.endswith(endings):
                problem = f"it cannot hold the {kind} {name!r}, whose key would be that of a part of another"
                raise StoreRefused(url=namespace, problem=problem)


class _Writer(Keys):
    """The commands that write a part."""

    def __init__(self, namespace: str) -> None:
        super().__init__(Snapshot(namespace))

    def jobs(self, part: Holdings) -> Iterator[Command]:
        """Records, and the entries that follow from them."""
        for jid, job in part.jobs.items():
            fields = _fields_of(job, part.numbers[jid])
            yield self.command("DEL", ("job", jid))
            yield self.command("DEL", ("history", jid))
            yield self.command("HSET", ("job", jid), *(word for pair in fields.items() for word in pair))
            if job.history:
                yield self.command(
                    "RPUSH", ("history", jid), *(_text([one.when, one.what, one.more]) for one in job.history)
                )
            yield from self._links(job)
            yield from self._entries(job)

    def _links(self, job: Job) -> Iterator[Command]:
        if job.dependencies:
            yield self.command("SADD", ("dependencies", job.jid), *job.dependencies)
        if job.dependents:
            yield self.command("SADD", ("dependents", job.jid), *job.dependents)
        if job.on_dependency_failure != "wait":
            for other in job.dependencies:
                yield self.command("SADD", ("concerned", other), job.jid)
        if job.dependents and job.state in (State.COMPLETE, State.FAILED):
            yield self.command("SADD", ("x:releases", ""), job.jid)

    def _entries(self, job: Job) -> Iterator[Command]:
        for place, score in entries_of(job).items():
            if place[0] not in ("tagged", "completed"):
                yield self.command("ZADD", place, score.value, job.jid)
        if job.state in (State.WAITING, State.THROTTLED):
            for throttle in job.throttles:
                yield self.command("SADD", ("lines", throttle), job.queue)
        if job.state == State.THROTTLED:
            yield self.command("SADD", ("sets", job.queue), set_of(job))

    def indexes(self, part: Holdings) -> Iterator[Command]:
        """What has an order, or a time, of its own."""
        yield from self._scores(("completed", ""), part.completed)
        yield from self._scores(("tracked", ""), _growing(part.tracked))
        for name, jids in part.places.items():
            yield from self._scores(("places", name), jids)
        for tag, numbers in part.tags.items():
            yield from self._scores(("tagged", tag), {jid: float(number) for jid, number in numbers.items()})
            yield self.command("ZINCRBY", ("tags", ""), str(len(numbers)), tag)
        for group, failed in part.failed.items():
            yield self.command("RPUSH", ("failed", group), *failed)
            yield self.command("SADD", ("failures", ""), group)

    def settings(self, part: Holdings) -> Iterator[Command]:
        """Queues, workers, limits, templates, options."""
        for number, (name, (known, paused)) in enumerate(part.queues.items(), 1):
            if known:
                yield self.command("ZADD", ("queues", ""), float(number), name)
            yield self.command("SADD" if paused else "SREM", ("paused_queues", ""), name)
        yield from self._scores(("workers", ""), part.workers)
        for name, (maximum, expires) in part.throttles.items():
            limit = ("id", name, "maximum", str(maximum), "x-expires", expires)
            yield self.command("HSET", ("throttle", name), *limit)
            yield self.command("SADD", ("x:throttles", ""), name)
            if expires:
                yield self.command("ZADD", ("x:expiring", ""), expires, name)
        for template in part.templates.values():
            fields: dict[str, str | float] = {
                **{"jid": template.jid, "klass": template.klass, "data": template.data, "priority": template.priority},
                **{"tags": _text(template.tags), "state": "recur", "queue": template.queue, "type": "interval"},
                **{"count": str(template.count), "interval": template.interval, "retries": str(template.retries)},
                **{"backlog": str(template.backlog), "throttles": _text(template.throttles)},
                "x-offset": part.offsets.get(template.jid, 0.0),
            }
            yield self.command("HSET", ("template", template.jid), *(word for pair in fields.items() for word in pair))
            yield self.command("ZADD", ("recur", template.queue), template.next_due, template.jid)
        for option, value in part.config.items():
            yield self.command("HSET", ("config", ""), option, str(value))

    def stats(self, part: Holdings) -> Iterator[Command]:
        """Statistics, and which days have some."""
        for queue, days in part.stats.items():
            for day, stats in days.items():
                yield from self._day(f"{day}:{queue}", day, stats, part.spreads[queue][day])

    def _day(self, name: str, day: int, stats: QueueStats, spreads: tuple[float, float]) -> Iterator[Command]:
        yield self.command("ZADD", ("x:days", ""), str(day), name)
        for kind, timing, spread in (("wait", stats.wait, spreads[0]), ("run", stats.run, spreads[1])):
            if timing != Timing():
                summary = ("total", str(timing.count), "mean", timing.mean, "vk", spread)
                yield self.command("HSET", (kind, name), *summary, *_counted(zip(LABELS, timing.histogram, strict=True)))
            if any(timing.histogram):
                yield self.command("ZADD", ("x:histograms", ""), str(day), name)
        told = _counted((("retries", stats.retries), ("failures", stats.failures), ("failed", stats.failed)))
        if told:
            yield self.command("HSET", ("counters", name), *told)

    def _scores(self, place: Place, scores: Mapping[str, float]) -> Iterator[Command]:
        words: list[str | float] = []
        for member, score in scores.items():
            words += (score, member)
        if words:
            yield self.command("ZADD", place, *words)


def _fields_of(job: Job, number: int) -> dict[str, str | float]:
    """A job's hash: what is as it is by default is left out."""
    fields: dict[str, str | float] = {"klass": job.klass, "data": job.data, "queue": job.queue, "state": str(job.state)}
    fields |= {"x-seq": str(number), "x-ready": job.ready_at}
    for field, name in _FIELDS.items():
        value = getattr(job, name)
        if value != getattr(_DEFAULTS, name):
            fields[field] = value if isinstance(value, float) else str(value)
    if job.remaining != job.retries:
        fields["remaining"] = str(job.remaining)
    fields |= {field: _text(names) for field, names in (("tags", job.tags), ("throttles", job.throttles)) if names}
    fields |= {field: "1" for field, is_so in (("grace", job.grace), ("x-awaited", bool(job.dependents))) if is_so}
    if job.failure:
        fields["failure"] = _text(job.failure)
        if job.state == State.FAILED:
            fields |= {"x-group": job.failure.group, "x-failed": job.failure.when}
    return fields


def _counted(counts: Iterable[tuple[str, int]]) -> list[str]:
    """Fields and values of what is not 0."""
    return [word for name, count in counts if count for word in (name, str(count))]


def _growing(times: Mapping[str, float]) -> dict[str, float]:
    """The same times, each a little above the one before, so that their order holds."""
    found: dict[str, float] = {}
    latest = float("-inf")
    for name, time in times.items():
        latest = found[name] = time if time > latest else _after(latest)
    return found


def _after(time: float) -> float:
    return time + max(abs(time), 1.0) * 2.0**-52


def _limit(snapshot: Snapshot, name: str) -> tuple[int, float]:
    maximum = number_of(snapshot.get("throttle", name).get("maximum")) or 0
    return int(maximum), throttle_expires(snapshot, name)


def _spreads(snapshot: Snapshot, state: StateDump) -> dict[str, dict[int, tuple[float, float]]]:
    found: dict[str, dict[int, tuple[float, float]]] = defaultdict(dict)
    for queue, days in state.stats.items():
        for day in days:
            waits, runs = (number_of(snapshot.get(kind, f"{day}:{queue}").get("vk")) or 0.0 for kind in ("wait", "run"))
            found[queue][day] = (waits, runs)
    return dict(found)


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
