"""What is kept of lists beside them: groups of failures, counts of tags, which throttles and days there are, how many failed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from stanchion.engine.contract import Finding
from stanchion.engine.redis.dump import day_and_queue, throttle_expires
from stanchion.engine.redis.jobs import jobs_as_kept, number_of
from stanchion.engine.redis.mending.base import Keys, Mending, Place
from stanchion.engine.redis.mending.entries import set_of
from stanchion.engine.redis.snapshot import Snapshot
from stanchion.rules.days import day_of
from stanchion.states import State


def mend_groups(snapshot: Snapshot) -> Iterator[Mending]:
    """What is wrong with the groups of failed jobs. They are right once every record is."""
    yield from _Lists(snapshot).groups()


def mend_lists(snapshot: Snapshot) -> Iterator[Mending]:
    """What is wrong with what is kept of lists. It is right once they, and every record and every entry, are."""
    lists = _Lists(snapshot)
    yield from lists.names_of_groups()
    yield from lists.tags()
    yield from lists.lines()
    yield from lists.throttles()
    yield from lists.days()
    yield from lists.counts_of_failed()


class _Lists:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._keys = Keys(snapshot)
        self._jobs = jobs_as_kept(snapshot)

    def groups(self) -> Iterator[Mending]:
        """A group lists its failed jobs, the newest first, each once."""
        wanted, there = self._failed_by_group(), self._snapshot.all("failed")
        for group in sorted(wanted.keys() | there.keys()):
            if Counter(wanted.get(group, [])) != Counter(there.get(group, [])):
                yield self._rewrite_group(group, wanted.get(group, []), there.get(group, []))

    def names_of_groups(self) -> Iterator[Mending]:
        """There is a set of all groups."""
        groups, what = self._failed_by_group().keys(), "groups of failed jobs"
        yield from self._set(("failures", ""), groups, lambda group: ("failed", group), "group-list", what)

    def _failed_by_group(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for jid, job in self._jobs.records.items():
            if job.state == State.FAILED and job.failure:
                found[job.failure.group].append(jid)
        return found

    def _rewrite_group(self, group: str, wanted: list[str], there: list[str]) -> Mending:
        commands = [self._keys.command("DEL", ("failed", group))]
        if wanted:
            commands.append(self._keys.command("RPUSH", ("failed", group), *self._jobs.newest_failed_first(wanted)))
        watched = (("job", jid) for jid in dict.fromkeys((*wanted, *there)))
        return Mending((("failed", group), *watched), tuple(commands))

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
        for kind, kept, wanted, what in (
            ("lines", "line", queues, "queues in line"),
            ("sets", "held", sets, "sets of throttles that wait"),
        ):
            for name in sorted(wanted.keys() | self._snapshot.all(kind).keys()):
                yield from self._set((kind, name), wanted.get(name, set()), _part_of(kept, name), "throttle-list", what)

    def throttles(self) -> Iterator[Mending]:
        """Which throttles have a limit, and when limits end, is kept."""
        limits = self._snapshot.all("throttle")
        yield from self._set(("x:throttles", ""), limits.keys(), lambda name: ("throttle", name), "throttle-list", "limits")
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

    def _set(
        self, place: Place, wanted: Iterable[str], kept_in: Callable[[str], Place], code: str, what: str
    ) -> Iterator[Mending]:
        """Let a set have all that there is. Each member is watched where it is kept: it may come or go meanwhile."""
        there, needed = set(self._snapshot.get(*place)), set(wanted)
        finding = Finding(code, place[1] or place[0], f"has not the {what} that there are")
        for member in sorted(there ^ needed):
            command = self._keys.command("SADD" if member in needed else "SREM", place, member)
            yield Mending((kept_in(member),), (command,), (finding,))

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


def _part_of(kind: str, name: str) -> Callable[[str], Place]:
    """Where a kind keeps what there is of a name, by the other part of its key."""
    return lambda other: (kind, f"{name}\0{other}")
