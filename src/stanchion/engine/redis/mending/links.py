"""Who waits for whom: the sets of dependencies say it, and the rest follows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from stanchion.engine.contract import Finding
from stanchion.engine.redis.jobs import jobs_as_kept
from stanchion.engine.redis.mending.base import Keys, Mending
from stanchion.engine.redis.snapshot import Command, Snapshot
from stanchion.records import Job
from stanchion.states import State


def mend_links(snapshot: Snapshot, now: float) -> Iterator[Mending]:
    """What is wrong with dependencies."""
    links = _Links(snapshot, now)
    for job in links.jobs.values():
        yield from links.mend(job)


def mend_releases(snapshot: Snapshot, now: float) -> Iterator[Mending]:
    """What is wrong with the list of jobs whose dependents are still to be told."""
    yield from _Links(snapshot, now).mend_releases()


class _Links:
    def __init__(self, snapshot: Snapshot, now: float) -> None:
        self._snapshot = snapshot
        self._keys = Keys(snapshot)
        self._now = now
        self.jobs = jobs_as_kept(snapshot).records

    @cached_property
    def _dependents(self) -> dict[str, set[str]]:
        """Whom each job's dependents should be."""
        found: dict[str, set[str]] = defaultdict(set)
        for jid, job in self.jobs.items():
            for other in self._dependencies(job):
                found[other].add(jid)
        return found

    def _dependencies(self, job: Job) -> set[str]:
        """What a job really waits for."""
        return set(job.dependencies) & self.jobs.keys() if job.state == State.DEPENDS else set()

    def mend(self, job: Job) -> Iterator[Mending]:
        """What of a job's links is wrong."""
        jid, findings = job.jid, []
        commands = [*self._make("dependencies", jid, self._dependencies(job)), *self._release(job)]
        dependents = self._dependents.get(jid, set())
        commands += self._make("dependents", jid, dependents)
        concerned = {other for other in dependents if self.jobs[other].on_dependency_failure != "wait"}
        told = list(self._make("concerned", jid, concerned))
        if told:
            findings.append(Finding("concerned", jid, "does not know as it should who is concerned if it fails"))
        if dependents and not self._knows_that_it_is_awaited(jid):
            told.append(self._keys.command("HSET", ("job", jid), "x-awaited", "1"))
            findings.append(Finding("awaited", jid, "does not know that others wait for it"))
        if commands or told:
            watched = (("job", jid), *((kind, jid) for kind in ("dependencies", "dependents", "concerned")))
            yield Mending(watched, (*commands, *told), tuple(findings))

    def _release(self, job: Job) -> Iterator[Command]:
        """A job that waits for nothing any more comes in line: now, or at the time kept for it."""
        if job.state != State.DEPENDS or self._dependencies(job):
            return
        later = job.due > self._now
        state, ready, due = ("scheduled", job.due, job.due) if later else ("waiting", self._now, 0.0)
        yield self._keys.command("HSET", ("job", job.jid), "state", state, "x-ready", ready, "x-due", due)

    def _knows_that_it_is_awaited(self, jid: str) -> bool:
        raw = self._snapshot.get("job", jid)
        return "x-seq" not in raw or raw.get("x-awaited") == "1"

    def _make(self, kind: str, jid: str, wanted: set[str]) -> Iterator[Command]:
        return self._keys.make((kind, jid), set(self._snapshot.get(kind, jid)), wanted)

    def mend_releases(self) -> Iterator[Mending]:
        """Jobs that are over tell their dependents step by step, by a list: nobody else may be on it, and none be missing."""
        listed = set(self._snapshot.get("x:releases"))
        place = ("x:releases", "")
        for jid in sorted(listed):
            if jid not in self.jobs or self.jobs[jid].state not in (State.FAILED, State.COMPLETE):
                finding = Finding("stray-release", jid, "would tell its dependents that it is over, which it is not")
                yield Mending((("job", jid),), (self._keys.command("SREM", place, jid),), (finding,))
        for jid in sorted(jid for jid in self._dependents if jid not in listed and self._has_to_tell(jid)):
            finding = Finding("untold-dependents", jid, "is over, but its dependents were not told")
            yield Mending((("job", jid),), (self._keys.command("SADD", place, jid),), (finding,))

    def _has_to_tell(self, jid: str) -> bool:
        if self.jobs[jid].state == State.COMPLETE:
            return True
        concerned = any(self.jobs[other].on_dependency_failure != "wait" for other in self._dependents[jid])
        return self.jobs[jid].state == State.FAILED and concerned
