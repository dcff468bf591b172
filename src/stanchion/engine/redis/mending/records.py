"""Records: what cannot be read, and what does not follow from the state that they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import floor
from typing import Any

import msgspec

from stanchion.engine.contract import Finding
from stanchion.engine.invariants import SET_ASIDE
from stanchion.engine.redis.jobs import jobs_as_kept, number_of, readable
from stanchion.engine.redis.layout import BY_QUEUE
from stanchion.engine.redis.mending.base import Keys, Mending, text_of
from stanchion.engine.redis.mending.problems import SERIOUS, bad_entries, problems_of_job, problems_of_template
from stanchion.engine.redis.snapshot import Command, Snapshot
from stanchion.records import Failure, Job
from stanchion.rules.days import day_of
from stanchion.rules.jsontext import json_problem
from stanchion.states import State

Changes = dict[str, str | float | None]
"""Fields and what they become; None: they go."""

_LOST = "?"
"""The klass or queue of a job that has lost it."""


def mend_records(snapshot: Snapshot, now: float) -> Iterator[Mending]:
    """What of records cannot be read."""
    for job in jobs_as_kept(snapshot).records.values():
        yield from _mend_job(snapshot, job, now)
    for jid, raw in sorted(snapshot.all("template").items()):
        yield from _mend_template(snapshot, jid, raw)


def mend_states(snapshot: Snapshot, now: float) -> Iterator[Mending]:
    """What of records does not follow from the states that they say."""
    for job in jobs_as_kept(snapshot).records.values():
        raw = snapshot.get("job", job.jid)
        if not problems_of_job(raw):
            yield from _by_state(snapshot, job, raw, now)


def _mend_job(snapshot: Snapshot, job: Job, now: float) -> Iterator[Mending]:
    raw = snapshot.get("job", job.jid)
    problems = problems_of_job(raw)
    bad = bad_entries(snapshot.get("history", job.jid))
    over = raw.get("state") in (State.FAILED, State.COMPLETE)
    if not over and problems.keys() & SERIOUS:
        yield _set_aside(snapshot, job, problems, bad, now)
    elif problems or bad:
        yield _make_readable(snapshot, job, problems, bad)


def _set_aside(snapshot: Snapshot, job: Job, problems: Mapping[str, str], bad: list[str], now: float) -> Mending:
    """Fail a job whose record cannot be trusted, as a pop would that meets it."""
    keys, jid = Keys(snapshot), job.jid
    reason = _said(problems)
    queue = job.queue or _listed_in(snapshot, jid) or _LOST
    failure = Failure(SET_ASIDE, reason, now, job.worker)
    changes: Changes = {
        **_defaults(problems),
        **{"state": "failed", "queue": queue, "worker": "", "expires": 0.0, "grace": "0", "x-due": 0.0},
        **{"failure": _json(failure), "x-group": SET_ASIDE, "x-failed": now},
    }
    # A job that was put and nothing more has no list of its history yet.
    untold = () if snapshot.get("history", jid) else job.history
    entries = [_json([one.when, one.what, one.more]) for one in untold]
    entries.append(_json([now, "failed", {"worker": job.worker, "group": SET_ASIDE}]))
    commands = (
        *_set(keys, ("job", jid), changes),
        *_without(keys, jid, bad),
        keys.command("RPUSH", ("history", jid), *entries),
        keys.command("HINCRBY", ("counters", f"{day_of(now)}:{queue}"), "failures", "1"),
    )
    return Mending((("job", jid),), commands, (Finding("broken-record", jid, reason),))


def _make_readable(snapshot: Snapshot, job: Job, problems: Mapping[str, str], bad: list[str]) -> Mending:
    keys, jid = Keys(snapshot), job.jid
    said = _said(problems) if problems else f"its history has what is no entry: {readable(bad[0])[:100]!r}"
    finding = Finding("unreadable-record", jid, said)
    commands = (*_set(keys, ("job", jid), _defaults(problems)), *_without(keys, jid, bad))
    return Mending((("job", jid),), commands, (finding,))


def _without(keys: Keys, jid: str, bad: list[str]) -> Iterator[Command]:
    for text in dict.fromkeys(bad):
        yield keys.command("LREM", ("history", jid), "0", text)


def _defaults(problems: Mapping[str, str]) -> Changes:
    """What cannot be read goes: then its default holds. Some fields must be there."""
    needed: Changes = {"klass": _LOST, "data": "null", "queue": "", "state": "failed"}
    return {field: needed.get(field) for field in problems}


def _by_state(snapshot: Snapshot, job: Job, raw: Mapping[str, str], now: float) -> Iterator[Mending]:
    """What follows from a state and is kept beside it. The checker tells what is wrong, but for the group."""
    changes = {field: value for field, value in _due_changes(snapshot, job, raw, now).items() if _differs(raw, field, value)}
    if not changes:
        return
    findings = []
    if changes.keys() & {"x-group", "x-failed"}:
        findings.append(Finding("group-by-record", job.jid, "does not say as it should under which group it is listed"))
    if job.state == State.STALLED and "worker" in changes:
        findings.append(Finding("worker-by-state", job.jid, f"is {job.state}, and its worker is {raw['worker']!r}"))
    yield Mending((("job", job.jid),), tuple(_set(Keys(snapshot), ("job", job.jid), changes)), tuple(findings))


def _due_changes(snapshot: Snapshot, job: Job, raw: Mapping[str, str], now: float) -> Changes:
    state = _state_of(job)
    changes: Changes = {} if state == job.state else {"state": str(state)}
    if state != State.RUNNING:
        changes |= {"worker": "", "expires": 0.0, "grace": "0"}
    elif job.expires == 0:
        changes["expires"] = now
    if state not in (State.SCHEDULED, State.DEPENDS):
        changes["x-due"] = 0.0
    if state == State.COMPLETE:
        changes["queue"] = ""
    least, most = min(job.retries, 0), max(job.retries, 0)
    if not least <= job.remaining <= most:
        changes["remaining"] = str(max(min(job.remaining, most), least))
    return changes | _group_changes(snapshot, job, raw)


def _state_of(job: Job) -> State:
    if job.state == State.RUNNING and not job.worker:
        return State.STALLED  # held by nobody: whoever pops next may have it
    if job.state == State.THROTTLED and not job.throttles:
        return State.WAITING
    return job.state


def _group_changes(snapshot: Snapshot, job: Job, raw: Mapping[str, str]) -> Changes:
    if job.state != State.FAILED:
        return {"x-group": None, "x-failed": None}
    if job.failure:
        return {"x-group": job.failure.group, "x-failed": _failed_at(job.failure.when, raw)}
    groups = [group for group, jids in snapshot.all("failed").items() if job.jid in jids]
    group = raw.get("x-group") or (groups[0] if len(groups) == 1 else None)
    when = number_of(raw.get("x-failed"))
    if group is None or when is None:
        return {}
    return {"failure": _json(Failure(group, "", when))}


def _failed_at(when: float, raw: Mapping[str, str]) -> float:
    """When a job failed: its failure tells whole seconds where an old client wrote it."""
    exact = number_of(raw.get("x-failed"))
    return when if exact is None or floor(exact) != floor(when) else exact


def _mend_template(snapshot: Snapshot, jid: str, raw: Mapping[str, str]) -> Iterator[Mending]:
    problems = problems_of_template(raw)
    if problems:
        changes: Changes = dict.fromkeys(problems)
        commands = tuple(_set(Keys(snapshot), ("template", jid), changes))
        yield Mending((("template", jid),), commands, (Finding("broken-template", jid, _said(problems)),))
    wrong = json_problem(readable(raw.get("data", "null")))
    if wrong:
        yield Mending((), (), (Finding("broken-template-data", jid, f"has data that {wrong}"),))


def _listed_in(snapshot: Snapshot, jid: str) -> str | None:
    """The one queue that has the job in any of its collections."""
    queues = {queue for kind in BY_QUEUE for queue, jids in snapshot.all(kind).items() if jid in jids}
    return queues.pop() if len(queues) == 1 else None


def _set(keys: Keys, place: tuple[str, str], changes: Changes) -> Iterator[Command]:
    kept = {field: value for field, value in changes.items() if value is not None}
    gone = [field for field, value in changes.items() if value is None]
    if kept:
        yield keys.command("HSET", place, *(part for pair in kept.items() for part in pair))
    if gone:
        yield keys.command("HDEL", place, *gone)


def _differs(raw: Mapping[str, str], field: str, value: str | float | None) -> bool:
    """Would the change change anything? A field that is missing has its default."""
    if value is None:
        return field in raw
    own = raw.get(field, "")
    if isinstance(value, float):
        return (number_of(own) or 0.0) != value
    return own not in ("", "0") if value in ("", "0") else own != text_of(value)


def _said(problems: Mapping[str, str]) -> str:
    return "; ".join(f"its {field} {what}" for field, what in problems.items())


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
