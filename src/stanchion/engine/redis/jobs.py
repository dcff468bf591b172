"""The jobs of a snapshot as records, and the orders in which they stand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from stanchion.engine.redis import replies
from stanchion.engine.redis.snapshot import Snapshot
from stanchion.records import Job, RecurringJob
from stanchion.states import State

FOR_EVER = -math.inf
"""A time at which nothing has come due: jobs read as they are kept."""


class Jobs:
    """The jobs of a snapshot as they read at ``now``: a scheduled job whose time has come is waiting."""

    def __init__(self, snapshot: Snapshot, now: float) -> None:
        self._snapshot = snapshot
        self._now = now
        self._numbers = {jid: _number(raw, "x-seq") for jid, raw in snapshot.all("job").items()}
        self.records: dict[str, Job] = {
            jid: self._job(jid) for jid in sorted(self._numbers, key=lambda jid: (self._numbers[jid], jid))
        }
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
        return self.by_time(times)[::-1]

    def newest_failed_first(self, jids: Iterable[str]) -> list[str]:
        """Those that failed last come first; of those that failed at one time, the last put."""
        return self._sorted(jids, lambda jid, job: (-self._failed_at(job), -self._numbers[jid]))

    def _sorted(self, jids: Iterable[str], key: Any) -> list[str]:
        records = self.records
        return sorted(jids, key=lambda jid: (0, *key(jid, records[jid])) if jid in records else (1,))

    def _failed_at(self, job: Job) -> float:
        return _number(self._snapshot.get("job", job.jid), "x-failed") or (job.failure.when if job.failure else 0.0)

    # Records

    def _job(self, jid: str) -> Job:
        snapshot = self._snapshot
        raw = snapshot.get("job", jid)
        job = replies.job_of(
            jid,
            {field: readable(text) for field, text in raw.items()},
            tuple(map(entry, snapshot.get("history", jid))),
            tuple(snapshot.get("dependencies", jid)),
            tuple(snapshot.get("dependents", jid)),
            jid in snapshot.get("tracked"),
        )
        if "x-seq" not in raw:
            job = self._of_old_scripts(job, raw)
        if job.state == State.SCHEDULED and job.due <= self._now:
            return replace(job, state=State.WAITING, due=0.0, ready_at=job.due)
        return job

    def _of_old_scripts(self, job: Job, raw: Mapping[str, str]) -> Job:
        """What they kept elsewhere: when a job was popped, and when it is due. One timed out by hand keeps its worker's name."""
        if job.state == State.RUNNING:
            return replace(job, popped_at=_number(raw, "time"))
        if job.state == State.SCHEDULED:
            return replace(job, due=float(self._snapshot.get("scheduled", job.queue).get(job.jid, 0.0)))
        return replace(job, worker="") if job.state == State.STALLED else job


def jobs_as_kept(snapshot: Snapshot) -> Jobs:
    """The jobs as they are kept, whatever time it is."""
    if "jobs" not in snapshot.made:
        snapshot.made["jobs"] = Jobs(snapshot, FOR_EVER)
    found: Jobs = snapshot.made["jobs"]
    return found


def templates_of(snapshot: Snapshot) -> dict[str, RecurringJob]:
    """The recurring jobs; when each is due is in its queue's schedule."""
    found = {}
    for jid, raw in sorted(snapshot.all("template").items()):
        fields = {**{field: readable(text) for field, text in raw.items()}, "jid": jid}
        due = snapshot.get("recur", fields.get("queue", "")).get(jid, 0.0)
        found[jid] = replies.recurring_of(fields, float(due))
    return found


def entry(text: str) -> str:
    """An entry of a history, readable. Old scripts leave out the third part where it is empty."""
    return readable(f"{text[:-1]},{{}}]" if text.endswith('"]') else text)


def readable(text: str) -> str:
    """A text without the escapes that stand for bytes which are not UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def number_of(text: str | None) -> float | None:
    """A text as a finite number; None if it is none."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _number(raw: Mapping[str, str], field: str) -> float:
    return number_of(raw.get(field)) or 0.0
