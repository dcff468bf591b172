"""What is kept of lists beside them: groups of failures, counts of tags, which throttles and days there are, how many failed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from stanchion.engine.contract import Finding
from stanchion.engine.redis.dump import day_and_queue, throttle_expires
from stanchion.engine.redis.jobs import FOR_EVER, Jobs, number_of
from stanchion.engine.redis.mending.base import Keys, Mending, Place
from stanchion.engine.redis.mending.entries import set_of
from stanchion.engine.redis.snapshot import Snapshot
from stanchion.rules.days import day_of
from stanchion.states import State


def mend_lists(snapshot: Snapshot) -> Iterator[Mending]:
    """What is wrong with lists and with what is kept of them. It is right once every record and every entry is."""
    lists = _Lists(snapshot)
    yield from lists.groups()
    yield from lists.tags()
    yield from lists.lines()
    yield from lists.throttles()
    yield from lists.days()
    yield from lists.counts_of_failed()


class _Lists:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._keys = Keys(snapshot)
        self._jobs = Jobs(snapshot, FOR_EVER)

    def groups(self) -> Iterator[Mending]:
        """A group lists its failed jobs, the newest first, each once; and there is a set of all groups."""
        wanted: dict[str, list[str]] = defaultdict(list)
        for jid, job in self._jobs.records.items():
            if job.state == State.FAILED and job.failure:
                wanted[job.failure.group].append(jid)
        there = self._snapshot.all("failed")
        for group in sorted(wanted.keys() | there.keys()):
            if Counter(wanted.get(group, [])) != Counter(there.get(group, [])):
                yield self._rewrite_group(group, wanted.get(group, []))
        yield from self._set(("failures", ""), wanted.keys(), "group-list", "groups of failed jobs")

    def _rewrite_group(self, group: str, jids: list[str]) -> Mending:
        commands = [self._keys.command("DEL", ("failed", group))]
        if jids:
            commands.append(self._keys.command("RPUSH", ("failed", group), *self._jobs.newest_failed_first(jids)))
        return Mending((("failed", group), *(("job", jid) for jid in jids)), tuple(commands))

    def tags(self) -> Iterator[Mending]:
        """How many jobs bear each tag is kept."""
        counted = {tag: float(len(jids)) for tag, jids in self._snapshot.all("tagged").items()}
        kept = self._snapshot.get("tags")
        for tag in sorted(tag for tag in counted.keys() | kept.keys() if counted.get(tag) != kept.get(tag)):
            command = ("ZADD", ("tags", ""), counted[tag], tag) if tag in counted else ("ZREM", ("tags", ""), tag)
            finding = Finding(
                "tag-count", tag, f"is borne by {counted.get(tag, 0):g} jobs, but {kept.get(tag, 0):g} are kept"
            )
            yield Mending((("tagged", tag),), (self._keys.command(*command),), (finding,))

    def lines(self) -> Iterator[Mending]:
        """Of each throttle the queues with jobs in line for it are kept; of each queue the sets of throttles that hold jobs."""
        queues: dict[str, set[str]] = defaultdict(set)
        sets: dict[str, set[str]] = defaultdict(set)
        for job in self._jobs.records.values():
            for throttle in job.throttles if job.state in (State.WAITING, State.THROTTLED) else ():
                queues[throttle].add(job.queue)
            if job.state == State.THROTTLED:
                sets[job.queue].add(set_of(job))
        for kind, wanted, what in (("lines", queues, "queues in line"), ("sets", sets, "sets of throttles")):
            for name in sorted(wanted.keys() | self._snapshot.all(kind).keys()):
                yield from self._set((kind, name), wanted.get(name, set()), "throttle-list", what)

    def throttles(self) -> Iterator[Mending]:
        """Which throttles have a limit, and when limits end, is kept."""
        limits = self._snapshot.all("throttle")
        yield from self._set(("x:throttles", ""), limits.keys(), "throttle-list", "limits")
        ends = {name: expires for name in limits if (expires := throttle_expires(self._snapshot, name))}
        yield from self._scores("x:expiring", ends, "throttle-list", "limits that end")

    def days(self) -> Iterator[Mending]:
        """Which days have statistics, and histograms, is kept: they are swept by it."""
        names = {name for kind in ("wait", "run", "counters") for name in self._snapshot.all(kind)}
        drawn = {name for kind in ("wait", "run") for name in self._snapshot.all(kind)}
        days = {name: float(found[0]) for name in names if (found := day_and_queue(name))}
        for kind, wanted in (("x:days", days), ("x:histograms", {name: day for name, day in days.items() if name in drawn})):
            # A histogram that was dropped leaves its hash: what is not listed is only wrong if there is one.
            missing = {name: day for name, day in wanted.items() if name not in self._snapshot.get(kind)}
            if kind == "x:histograms":
                missing = {name: day for name, day in missing.items() if self._has_histogram(name)}
            yield from self._scores(kind, self._snapshot.get(kind) | missing, "unlisted-statistics", "days with statistics")

    def _has_histogram(self, name: str) -> bool:
        hashes = (self._snapshot.get(kind, name) for kind in ("wait", "run"))
        return any(field[:1] in "smhd" and field[1:].isdigit() for raw in hashes for field in raw)

    def counts_of_failed(self) -> Iterator[Mending]:
        """A day's count of jobs that are failed still is that of the failed jobs. The checker tells."""
        failed: Counter[tuple[int, str]] = Counter()
        for job in self._jobs.records.values():
            if job.state == State.FAILED and job.failure:
                failed[day_of(job.failure.when), job.queue] += 1
        for name, raw in sorted(self._snapshot.all("counters").items()):
            found = day_and_queue(name)
            if found and (number_of(raw.get("failed")) or 0) != failed[found]:
                command = self._keys.command("HSET", ("counters", name), "failed", str(failed[found]))
                yield Mending((("counters", name),), (command,))

    def _set(self, place: Place, wanted: Iterable[str], code: str, what: str) -> Iterator[Mending]:
        commands = tuple(self._keys.make(place, set(self._snapshot.get(*place)), set(wanted)))
        if commands:
            subject = place[1] or place[0]
            yield Mending((place,), commands, (Finding(code, subject, f"has not the {what} that there are"),))

    def _scores(self, kind: str, wanted: Mapping[str, float], code: str, what: str) -> Iterator[Mending]:
        there = self._snapshot.get(kind)
        commands = [self._keys.command("ZREM", (kind, ""), name) for name in sorted(there.keys() - wanted.keys())]
        commands += [
            self._keys.command("ZADD", (kind, ""), wanted[name], name)
            for name in sorted(wanted)
            if there.get(name) != wanted[name]
        ]
        if commands:
            finding = Finding(code, kind, f"has not the {what} that there are")
            yield Mending(((kind, ""),), tuple(commands), (finding,))
