"""What must hold of a queue's whole state at any moment: each job's record agrees with every collection and index.

It works on a :class:`StateDump`, so it is the same check for every engine, for the tests, and for ``stanchion fsck``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from stanchion.engine.contract import Finding, QueueState, StateDump
from stanchion.records import Job
from stanchion.rules.days import day_of
from stanchion.states import State

SET_ASIDE = "broken-record"
"""The failure group of jobs whose records could not be read: their histories may have been lost with the rest."""


def check(dump: StateDump) -> list[Finding]:
    """Everything that does not hold; nothing for a sound state."""
    return [
        *_collections(dump),
        *_times(dump),
        *_recurring(dump),
        *_records(dump),
        *_dependencies(dump),
        *_circles(dump),
        *_tags(dump),
        *_failures(dump),
        *_workers(dump),
        *_throttles(dump),
        *_stats(dump),
    ]


def _collections(dump: StateDump) -> Iterator[Finding]:
    """Every job is in the one collection that its state and queue name, and in no other."""
    found: dict[str, list[tuple[str, str]]] = {}
    for queue, state in dump.queues.items():
        for name, jids in _collections_of(state).items():
            for jid in jids:
                found.setdefault(jid, []).append((queue, name))
    for jid in dump.complete:
        found.setdefault(jid, []).append(("", State.COMPLETE))
    for group in dump.failures.values():
        for jid in group:
            found.setdefault(jid, []).append((dump.jobs[jid].queue if jid in dump.jobs else "", State.FAILED))
    for jid in found.keys() - dump.jobs.keys():
        yield Finding("no-record", jid, f"is listed as {_places(found[jid])}, but has no record")
    for jid, job in dump.jobs.items():
        places = found.get(jid, [])
        if places != [(job.queue, str(job.state))]:
            yield Finding(
                "wrong-place",
                jid,
                f"is {job.state} in {job.queue!r} by its record, but listed as {_places(places)}",
            )


def _times(dump: StateDump) -> Iterator[Finding]:
    """The locks and the schedule have the times that the records have."""
    for state in dump.queues.values():
        for jid, expires in state.running.items():
            if jid in dump.jobs and dump.jobs[jid].expires != expires:
                yield Finding("wrong-time", jid, f"lapses at {dump.jobs[jid].expires}, but is listed at {expires}")
        for jid, due in state.scheduled.items():
            if jid in dump.jobs and dump.jobs[jid].due != due:
                yield Finding("wrong-time", jid, f"is due at {dump.jobs[jid].due}, but listed at {due}")


def _recurring(dump: StateDump) -> Iterator[Finding]:
    """Every template is in the schedule of its queue, at its time, and in no other."""
    listed = {(jid, name, due) for name, state in dump.queues.items() for jid, due in state.recurring.items()}
    own = {(jid, template.queue, template.next_due) for jid, template in dump.recurring.items()}
    for jid, name, due in sorted(listed - own):
        yield Finding("stray-template", jid, f"is scheduled in {name!r} for {due}, which it does not say")
    for jid, name, due in sorted(own - listed):
        yield Finding("missing-template", jid, f"says that it is due in {name!r} at {due}, but is not scheduled so")


def _records(dump: StateDump) -> Iterator[Finding]:
    """A record has what its state asks for, and nothing of another state."""
    for jid, job in dump.jobs.items():
        running, complete = job.state == State.RUNNING, job.state == State.COMPLETE
        if running != bool(job.worker):
            yield Finding("worker-by-state", jid, f"is {job.state}, and its worker is {job.worker!r}")
        if running != (job.expires != 0):
            yield Finding("expiry-by-state", jid, f"is {job.state}, and its lock expires at {job.expires}")
        if job.grace and not running:
            yield Finding("grace-by-state", jid, f"is {job.state}, and in its grace period")
        if complete != (job.queue == ""):
            yield Finding("queue-by-state", jid, f"is {job.state}, and its queue is {job.queue!r}")
        if job.due and job.state not in (State.SCHEDULED, State.DEPENDS):
            yield Finding("due-by-state", jid, f"is {job.state}, and due at {job.due}")
        if job.remaining > max(job.retries, 0) or job.remaining < min(job.retries, 0):
            yield Finding("remaining", jid, f"has {job.remaining} of {job.retries} retries left")
        if job.history and not _starts_well(job):
            yield Finding("history-start", jid, f"has a history that begins with {job.history[0].what!r}")


def _dependencies(dump: StateDump) -> Iterator[Finding]:
    """Dependencies and dependents mirror each other, and exactly the depends jobs have some."""
    for jid, job in dump.jobs.items():
        if (job.state == State.DEPENDS) != bool(job.dependencies):
            yield Finding("depends-by-state", jid, f"is {job.state}, and depends on {list(job.dependencies)}")
        for other in job.dependencies:
            if other not in dump.jobs:
                yield Finding("lost-dependency", jid, f"depends on {other}, which does not exist")
            elif jid not in dump.jobs[other].dependents:
                yield Finding("one-sided-dependency", jid, f"depends on {other}, which does not know it")
        for other in job.dependents:
            if other not in dump.jobs or jid not in dump.jobs[other].dependencies:
                yield Finding("one-sided-dependent", jid, f"has the dependent {other}, which does not depend on it")


def _circles(dump: StateDump) -> Iterator[Finding]:
    """No job waits for itself: once all that can complete have, none is left waiting."""
    left = {jid: len(dump.jobs.keys() & set(job.dependencies)) for jid, job in dump.jobs.items()}
    dependents: dict[str, list[str]] = defaultdict(list)
    for jid, job in dump.jobs.items():
        for other in job.dependencies:
            dependents[other].append(jid)
    free = [jid for jid, count in left.items() if count == 0]
    while free:
        for dependent in dependents[free.pop()]:
            left[dependent] -= 1
            if left[dependent] == 0:
                free.append(dependent)
    for jid in sorted(jid for jid, count in left.items() if count > 0):
        yield Finding("circle", jid, "waits, through its dependencies, for itself or for a job that does")


def _tags(dump: StateDump) -> Iterator[Finding]:
    """The index of tags and the jobs' own tags agree."""
    yield from _same_index("tag", dump.tags, {jid: job.tags for jid, job in dump.jobs.items()})


def _failures(dump: StateDump) -> Iterator[Finding]:
    """A failed job is listed under the group of its failure."""
    groups = {
        jid: (job.failure.group,) if job.failure else () for jid, job in dump.jobs.items() if job.state == State.FAILED
    }
    yield from _same_index("group", dump.failures, groups)


def _workers(dump: StateDump) -> Iterator[Finding]:
    """A known worker's list holds exactly the jobs that name it."""
    held = {jid: (job.worker,) for jid, job in dump.jobs.items() if job.worker in dump.workers}
    yield from _same_index("worker", {name: worker.jobs for name, worker in dump.workers.items()}, held)


def _throttles(dump: StateDump) -> Iterator[Finding]:
    """Places are held by running jobs that bear the throttle; exactly the throttled jobs wait, for all of theirs."""
    for name, state in dump.throttles.items():
        for jid in state.locks:
            job = dump.jobs.get(jid)
            if job is None or job.state != State.RUNNING or name not in job.throttles:
                yield Finding("lost-place", jid, f"holds a place of throttle {name}, but does not run with it")
    pending = {name: state.pending for name, state in dump.throttles.items()}
    throttled = {jid: job for jid, job in dump.jobs.items() if job.state == State.THROTTLED}
    yield from _same_index("throttle", pending, {jid: job.throttles for jid, job in throttled.items()})
    for jid in (jid for jid, job in throttled.items() if not job.throttles):
        yield Finding("throttled-by-none", jid, "is throttled, and bears no throttle")


def _stats(dump: StateDump) -> Iterator[Finding]:
    """A day's count of jobs that are failed still is that of the failed jobs of that queue and day."""
    failed: dict[str, Counter[int]] = defaultdict(Counter)
    for job in dump.jobs.values():
        if job.state == State.FAILED and job.failure:
            failed[job.queue][day_of(job.failure.when)] += 1
    for queue, days in dump.stats.items():
        for day, stats in days.items():
            if stats.failed != failed[queue][day]:
                message = f"counts {stats.failed} jobs failed on day {day}, but there are {failed[queue][day]}"
                yield Finding("failed-count", queue, message)


def _same_index(what: str, index: Mapping[str, Iterable[str]], own: Mapping[str, Iterable[str]]) -> Iterator[Finding]:
    listed = {(jid, name) for name, jids in index.items() for jid in jids}
    borne = {(jid, name) for jid, names in own.items() for name in names}
    for jid, name in sorted(listed - borne):
        yield Finding(f"stray-{what}", jid, f"is listed under the {what} {name}, which its record does not name")
    for jid, name in sorted(borne - listed):
        yield Finding(f"missing-{what}", jid, f"is not listed under the {what} {name}, which its record names")


def _collections_of(queue: QueueState) -> dict[str, Iterable[str]]:
    return {
        State.WAITING: queue.waiting,
        State.RUNNING: queue.running,
        State.STALLED: queue.stalled,
        State.SCHEDULED: queue.scheduled,
        State.DEPENDS: queue.depends,
        State.THROTTLED: queue.throttled,
    }


def _places(places: list[tuple[str, str]]) -> str:
    return " and ".join(f"{name} in {queue!r}" for queue, name in places) or "nothing"


def _starts_well(job: Job) -> bool:
    first = job.history[0]
    return first.what == "put" or (first.what == "failed" and first.more.get("group") == SET_ASIDE)
