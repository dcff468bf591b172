"""Jobs and templates as their keys hold them, as records, and the orders in which they stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stanchion.engine.redis.fields import Fields, number_of, readable
from stanchion.engine.redis.snapshot import Snapshot
from stanchion.records import DependencyPolicy, Job, RecurringJob
from stanchion.states import State

RETRIES = 5
MISSING = "null"
"""The data of a job whose data is lost."""

_POLICIES: dict[str, DependencyPolicy] = {"wait": "wait", "run": "run", "fail": "fail", "cancel": "cancel"}
_PLACES = {
    "work": State.WAITING,
    "scheduled": State.SCHEDULED,
    "depends": State.DEPENDS,
    "throttled": State.THROTTLED,
    "locks": State.RUNNING,
}


class Jobs:
    """The jobs of a snapshot as they read at ``now``: a scheduled job whose time has come is waiting."""

    def __init__(self, snapshot: Snapshot, now: float) -> None:
        self._snapshot = snapshot
        self._now = now
        self.broken: dict[str, Fields] = {}
        """The records of which something could not be read."""
        self._numbers = {jid: number_of(raw.get("x-seq")) or 0.0 for jid, raw in snapshot.all("job").items()}
        by_number = sorted(self._numbers, key=lambda jid: self._numbers[jid])
        self._failed = {jid: number_of(snapshot.get("job", jid).get("x-failed")) for jid in by_number}
        self.records: dict[str, Job] = {jid: self._job(jid) for jid in by_number}
        """In the order in which they were put."""

    # Orders. A jid without a record comes last.

    def in_line(self, jids: Iterable[str]) -> list[str]:
        """By priority, then since when they can be popped, then in the order in which they were put."""
        return self._sorted(jids, lambda jid, job: (-job.priority, job.ready_at, self._numbers[jid], jid))

    def by_age(self, jids: Iterable[str]) -> list[str]:
        """Since when they can be popped, then in the order in which they were put."""
        return self._sorted(jids, lambda jid, job: (job.ready_at, self._numbers[jid], jid))

    def by_number(self, jids: Iterable[str]) -> list[str]:
        """In the order in which they were put."""
        return self._sorted(jids, lambda jid, job: (self._numbers[jid], jid))

    def by_time(self, times: Mapping[str, float]) -> list[str]:
        """By the time given with each, then in the order in which they were put."""
        return sorted(times, key=lambda jid: (times[jid], self._numbers.get(jid, 0.0), jid))

    def newest_first(self, times: Mapping[str, float]) -> list[str]:
        """As by time, the other way round."""
        return sorted(times, key=lambda jid: (times[jid], self._numbers.get(jid, 0.0), jid), reverse=True)

    def newest_failed_first(self, jids: Iterable[str]) -> list[str]:
        """Those that failed last come first."""
        return self._sorted(jids, lambda jid, job: (-self._failed_at(jid, job), -self._numbers[jid]))

    def _sorted(self, jids: Iterable[str], key: Any) -> list[str]:
        records = self.records
        return sorted(jids, key=lambda jid: (0, *key(jid, records[jid])) if jid in records else (1,))

    def _failed_at(self, jid: str, job: Job) -> float:
        return self._failed[jid] or (job.failure.when if job.failure else 0.0)

    # Records

    def _job(self, jid: str) -> Job:
        snapshot = self._snapshot
        fields = Fields(snapshot.get("job", jid))
        state, queue = self._state(jid, fields), fields.text("queue")
        due = self._due(jid, fields, state, queue)
        came_due = state == State.SCHEDULED and due <= self._now
        retries = fields.whole("retries", RETRIES)
        put_or_popped = fields.number("time")
        job = Job(
            jid=jid,
            klass=fields.text("klass"),
            data=fields.text("data", MISSING),
            queue=queue,
            state=State.WAITING if came_due else state,
            worker="" if state == State.STALLED else fields.text("worker"),
            expires=fields.number("expires"),
            priority=fields.number("priority"),
            retries=retries,
            remaining=fields.whole("remaining", retries),
            tags=fields.names("tags"),
            dependencies=tuple(sorted(snapshot.get("dependencies", jid))),
            dependents=tuple(sorted(snapshot.get("dependents", jid))),
            throttles=fields.names("throttles"),
            tracked=jid in snapshot.get("tracked"),
            spawned_from_jid=fields.text("spawned_from_jid") or None,
            failure=fields.failure(),
            history=fields.history(snapshot.get("history", jid) or []),
            attempt=fields.whole("x-attempt"),
            result=fields.text("x-result") if "x-result" in fields else None,
            on_dependency_failure=self._policy(fields),
            due=0.0 if came_due else due,
            ready_at=due if came_due else fields.number("x-ready", put_or_popped),
            popped_at=fields.number("x-popped", put_or_popped if state == State.RUNNING else 0.0),
            grace=fields.text("grace") == "1",
        )
        if fields.problems or fields.bad_entries:
            self.broken[jid] = fields
        return job

    def _state(self, jid: str, fields: Fields) -> State:
        text = fields.text("state")
        try:
            return State(text)
        except ValueError:
            fields.problems["state"] = f"state is no state: {text!r}"
            return self._place(jid) or State.WAITING

    def _place(self, jid: str) -> State | None:
        """The state that a collection says that a job is in."""
        snapshot = self._snapshot
        if jid in snapshot.get("completed"):
            return State.COMPLETE
        for kind, state in _PLACES.items():
            if any(jid in members for members in snapshot.all(kind).values()):
                return state
        return None

    def _due(self, jid: str, fields: Fields, state: State, queue: str) -> float:
        """When it is due; of jobs that old scripts have put only the schedule tells."""
        if state == State.SCHEDULED and "x-due" not in fields:
            return float(self._snapshot.get("scheduled", queue).get(jid, 0.0))
        return fields.number("x-due")

    def _policy(self, fields: Fields) -> DependencyPolicy:
        text = fields.text("x-policy", "wait")
        if text not in _POLICIES:
            fields.problems["x-policy"] = f"x-policy is no policy: {text!r}"
        return _POLICIES.get(text, "wait")


def template_of(jid: str, raw: Mapping[str, str], due: Mapping[tuple[str, str], float]) -> RecurringJob:
    """The record of a recurring job; when it is due, by jid and queue, is in its queue's schedule."""
    return read_template(jid, Fields(raw), due)


def read_template(jid: str, fields: Fields, due: Mapping[tuple[str, str], float]) -> RecurringJob:
    """As ``template_of``; what cannot be read is noted in the fields."""
    queue = fields.text("queue")
    return RecurringJob(
        jid=jid,
        klass=fields.text("klass"),
        data=readable(fields.text("data", MISSING)),
        queue=queue,
        interval=fields.number("interval"),
        next_due=due.get((jid, queue), 0.0),
        priority=fields.number("priority"),
        tags=fields.names("tags"),
        retries=fields.whole("retries"),
        backlog=fields.whole("backlog"),
        throttles=fields.names("throttles"),
        count=fields.whole("count"),
    )
