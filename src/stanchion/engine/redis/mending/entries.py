"""Entries in collections and indexes: what each record asks for, and what there is."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from stanchion.engine.contract import Finding
from stanchion.engine.redis.jobs import jobs_as_kept, readable, templates_of
from stanchion.engine.redis.mending.base import Keys, Mending, Place
from stanchion.engine.redis.snapshot import Command, Snapshot
from stanchion.records import Job
from stanchion.states import State

TICKS = 1e10
"""A second is so small a part of a priority in a line's scores."""

LISTING = (
    *("work", "locks", "scheduled", "depends", "throttled", "held_by", "completed", "tagged"),
    *("places", "pending", "line", "held"),
)
"""The kinds of sorted sets that list jobs."""

_KNOWN_TO_THE_CHECKER = frozenset(LISTING) - {"line", "held", "held_by"}


class Score(NamedTuple):
    """What the score of an entry should be, about."""

    value: float
    tolerance: float = 0.0


def line_score(job: Job) -> float:
    """The score of a job in a line: higher means earlier."""
    return job.priority - job.ready_at / TICKS


def entries_of(job: Job) -> dict[Place, Score]:
    """The entries that a job must have, as its record says. It may hold places in its throttles besides, while it runs."""
    entries = {("tagged", tag): Score(job.ready_at, math.inf) for tag in job.tags}
    in_line = Score(line_score(job), max(1.0 / TICKS, 4 * math.ulp(job.priority)))
    match job.state:
        case State.WAITING:
            entries["work", job.queue] = in_line
        case State.RUNNING:
            entries["locks", job.queue] = entries["held_by", job.worker] = Score(job.expires)
        case State.STALLED:
            entries["locks", job.queue] = Score(0.0)
        case State.SCHEDULED:
            entries["scheduled", job.queue] = Score(job.due)
        case State.DEPENDS:
            entries["depends", job.queue] = Score(job.ready_at, math.inf)
        case State.THROTTLED:
            entries["throttled", job.queue] = Score(job.ready_at, math.inf)
            entries["held", f"{job.queue}\0{set_of(job)}"] = in_line
            entries |= {("pending", throttle): in_line for throttle in job.throttles}
        case State.COMPLETE:
            entries["completed", ""] = Score(_completed_at(job), math.inf)
    if job.state in (State.WAITING, State.THROTTLED):
        entries |= {("line", f"{throttle}\0{job.queue}"): in_line for throttle in job.throttles}
    return entries


def set_of(job: Job) -> str:
    """A job's throttles as the library writes them."""
    return _as_lua(job.throttles)


def mend_entries(snapshot: Snapshot, now: float) -> Iterator[Mending]:
    """What is wrong with the entries of each job and template."""
    listed: dict[str, dict[Place, float]] = defaultdict(dict)
    for kind in LISTING:
        for name, jids in snapshot.all(kind).items():
            for jid, score in jids.items():
                listed[jid][kind, name] = score
    jobs = jobs_as_kept(snapshot).records
    for jid in dict.fromkeys([*jobs, *sorted(listed)]):
        yield from _mend_job(snapshot, jid, jobs.get(jid), listed.get(jid, {}))
    yield from _mend_templates(snapshot, now)


def _mend_job(snapshot: Snapshot, jid: str, job: Job | None, there: dict[Place, float]) -> Iterator[Mending]:
    keys = Keys(snapshot)
    wanted = _wanted(job, there) if job else {}
    commands: list[Command] = []
    findings: list[Finding] = []
    for place in sorted(there.keys() - wanted.keys()):
        commands.append(keys.command("ZREM", place, jid))
        findings += _told(snapshot, "stray-entry", jid, place, "is listed in {}, which its record does not say")
    for place in sorted(wanted.keys() - there.keys()):
        commands.append(keys.command("ZADD", place, wanted[place].value, jid))
        findings += _told(snapshot, "missing-entry", jid, place, "is not listed in {}, which its record says")
    for place in sorted(wanted.keys() & there.keys()):
        if not abs(there[place] - wanted[place].value) <= wanted[place].tolerance and there[place] != wanted[place].value:
            commands.append(keys.command("ZADD", place, wanted[place].value, jid))
            message = f"is in another place of {readable(keys.of(*place))} than its record says"
            findings.append(Finding("out-of-line", jid, message))
    if commands:
        yield Mending((("job", jid),), tuple(commands), tuple(findings))


def _wanted(job: Job, there: dict[Place, float]) -> dict[Place, Score]:
    places = {("places", throttle) for throttle in job.throttles} if job.state == State.RUNNING else set()
    return entries_of(job) | {place: Score(there[place]) for place in places & there.keys()}


def _told(snapshot: Snapshot, code: str, jid: str, place: Place, message: str) -> list[Finding]:
    """A finding, unless the checker of every engine's state has it."""
    kind, name = place
    if code == "stray-entry" and kind == "work" and snapshot.get(kind, name)[jid] == math.inf:
        return [
            Finding("timed-out-in-line", jid, "was timed out by an old script: it is first in line, not among the locks")
        ]
    if kind in _KNOWN_TO_THE_CHECKER or (kind == "held_by" and name in snapshot.get("workers")):
        return []
    return [Finding(code, jid, message.format(readable(Keys(snapshot).of(*place))))]


def _mend_templates(snapshot: Snapshot, now: float) -> Iterator[Mending]:
    """Each is in the schedule of its queue alone. One that is in none is due as if it had been set just now."""
    keys, templates = Keys(snapshot), templates_of(snapshot)
    for queue, jids in sorted(snapshot.all("recur").items()):
        for jid in sorted(jid for jid in jids if jid not in templates or templates[jid].queue != queue):
            yield Mending((("template", jid),), (keys.command("ZREM", ("recur", queue), jid),))
    for jid, template in templates.items():
        if jid not in snapshot.get("recur", template.queue):
            offset = float(snapshot.get("template", jid).get("x-offset") or 0)
            schedule = keys.command("ZADD", ("recur", template.queue), now + offset, jid)
            yield Mending((("template", jid),), (schedule,))


def _completed_at(job: Job) -> float:
    """When a job completed, as far as its record tells."""
    return next((entry.when for entry in reversed(job.history) if entry.what == "done"), job.popped_at)


def _as_lua(names: tuple[str, ...]) -> str:
    quoted = (_quoted(name) for name in names)
    return f"[{','.join(quoted)}]"


def _quoted(name: str) -> str:
    """A text as Lua's encoder writes it: UTF-8 as it is, and solidi and control characters escaped."""
    return f'"{"".join(_ESCAPES.get(character, character) for character in name)}"'


_ESCAPES = {
    **{chr(code): f"\\u{code:04x}" for code in (*range(32), 127)},
    **{'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"},
}
