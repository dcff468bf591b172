"""The checker of the whole state: a sound state passes, and whatever is put out of joint is named."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from stanchion.engine.contract import QueueState, StateDump, ThrottleState, WorkerState
from stanchion.engine.invariants import SET_ASIDE, check
from stanchion.records import Failure, HistoryEntry, Job, QueueStats, RecurringJob, Throttle
from stanchion.states import State

NOW = 1_700_000_000.0
DAY = int(NOW // 86400) * 86400
PUT = HistoryEntry("put", NOW, {"q": "q"})
change = msgspec.structs.replace


def job(jid: str, state: State, **fields: object) -> Job:
    queue = "" if state == State.COMPLETE else "q"
    return Job(jid, "K", "{}", queue, state, history=(PUT,), **fields)  # type: ignore[arg-type]


def sound() -> StateDump:
    """A state with a job of every kind, in which everything agrees."""
    failure = Failure("oops", "it broke", NOW, "w")
    jobs = (
        job("waiting", State.WAITING, tags=("red",), dependents=("depends",)),
        job("running", State.RUNNING, worker="w", expires=NOW + 60, throttles=("narrow",)),
        job("throttled", State.THROTTLED, throttles=("narrow",)),
        job("scheduled", State.SCHEDULED, due=NOW + 5),
        job("stalled", State.STALLED),
        job("depends", State.DEPENDS, dependencies=("waiting",), due=NOW + 5),
        job("failed", State.FAILED, failure=failure),
        job("complete", State.COMPLETE),
    )
    queue = QueueState(
        waiting=("waiting",),
        running={"running": NOW + 60},
        stalled=("stalled",),
        scheduled={"scheduled": NOW + 5},
        depends=("depends",),
        throttled=("throttled",),
        recurring={"template": NOW + 9},
    )
    return StateDump(
        now=NOW,
        jobs={one.jid: one for one in jobs},
        recurring={"template": RecurringJob("template", "K", "{}", "q", 60.0, NOW + 9)},
        queues={"q": queue},
        workers={"w": WorkerState(NOW, ("running",))},
        complete=("complete",),
        failures={"oops": ("failed",)},
        tags={"red": ("waiting",)},
        tracked=(),
        throttles={"narrow": ThrottleState(Throttle("narrow", 1), ("running",), ("throttled",))},
        stats={"q": {DAY: QueueStats(failures=1, failed=1)}},
        config={},
    )


def with_job(jid: str, **fields: object) -> Callable[[StateDump], StateDump]:
    return lambda dump: change(dump, jobs={**dump.jobs, jid: change(dump.jobs[jid], **fields)})  # type: ignore[type-var]


def without_job(jid: str) -> Callable[[StateDump], StateDump]:
    return lambda dump: change(dump, jobs={other: one for other, one in dump.jobs.items() if other != jid})


def with_queue(**fields: object) -> Callable[[StateDump], StateDump]:
    return lambda dump: change(dump, queues={"q": change(dump.queues["q"], **fields)})  # type: ignore[type-var]


def with_state(**fields: object) -> Callable[[StateDump], StateDump]:
    return lambda dump: change(dump, **fields)  # type: ignore[type-var]


NARROW = Throttle("narrow", 1)
OUT_OF_JOINT: list[tuple[str, str, Callable[[StateDump], StateDump]]] = [
    ("no-record", "stalled", without_job("stalled")),
    ("wrong-place", "waiting", with_queue(waiting=())),
    ("wrong-place", "waiting", with_queue(stalled=("stalled", "waiting"))),
    ("wrong-place", "complete", with_state(complete=())),
    ("wrong-place", "failed", with_state(failures={})),
    ("wrong-time", "running", with_queue(running={"running": NOW})),
    ("wrong-time", "scheduled", with_queue(scheduled={"scheduled": NOW})),
    ("stray-template", "x", with_queue(recurring={"template": NOW + 9, "x": NOW})),
    ("missing-template", "template", with_queue(recurring={})),
    ("worker-by-state", "waiting", with_job("waiting", worker="v")),
    ("worker-by-state", "running", with_job("running", worker="")),
    ("expiry-by-state", "stalled", with_job("stalled", expires=NOW)),
    ("grace-by-state", "stalled", with_job("stalled", grace=True)),
    ("queue-by-state", "complete", with_job("complete", queue="q")),
    ("due-by-state", "waiting", with_job("waiting", due=NOW)),
    ("remaining", "waiting", with_job("waiting", remaining=6)),
    ("remaining", "waiting", with_job("waiting", remaining=-1)),
    ("history-start", "waiting", with_job("waiting", history=(HistoryEntry("popped", NOW), PUT))),
    ("history-start", "waiting", with_job("waiting", history=(HistoryEntry("failed", NOW, {"group": "x"}),))),
    ("depends-by-state", "depends", with_job("depends", dependencies=())),
    ("depends-by-state", "stalled", with_job("stalled", dependencies=("waiting",))),
    ("lost-dependency", "depends", with_job("depends", dependencies=("waiting", "gone"))),
    ("one-sided-dependency", "depends", with_job("waiting", dependents=())),
    ("one-sided-dependent", "stalled", with_job("stalled", dependents=("depends",))),
    ("one-sided-dependent", "stalled", with_job("stalled", dependents=("gone",))),
    ("circle", "depends", with_job("depends", dependencies=("depends", "waiting"))),
    ("missing-tag", "waiting", with_state(tags={})),
    ("stray-tag", "waiting", with_state(tags={"red": ("waiting",), "blue": ("waiting",)})),
    ("missing-group", "failed", with_state(failures={"x": ("failed",)})),
    ("stray-group", "failed", with_job("failed", failure=None)),
    ("missing-worker", "running", with_state(workers={"w": WorkerState(NOW)})),
    ("stray-worker", "stalled", with_state(workers={"w": WorkerState(NOW, ("running", "stalled"))})),
    ("lost-place", "stalled", with_state(throttles={"narrow": ThrottleState(NARROW, ("stalled",), ("throttled",))})),
    ("lost-place", "gone", with_state(throttles={"narrow": ThrottleState(NARROW, ("gone",), ("throttled",))})),
    ("missing-throttle", "throttled", with_state(throttles={})),
    ("stray-throttle", "waiting", with_state(throttles={"narrow": ThrottleState(NARROW, (), ("throttled", "waiting"))})),
    ("throttled-by-none", "throttled", with_job("throttled", throttles=())),
    ("failed-count", "q", with_state(stats={"q": {DAY: QueueStats(failures=2, failed=2)}})),
    ("failed-count", "q", with_state(stats={"q": {DAY: QueueStats(failures=1)}})),
]


def test_a_sound_state_passes() -> None:
    assert check(sound()) == []


@pytest.mark.parametrize(
    ("code", "subject", "put_out"), OUT_OF_JOINT, ids=[f"{code}-{subject}" for code, subject, _ in OUT_OF_JOINT]
)
def test_what_is_out_of_joint_is_named(code: str, subject: str, put_out: Callable[[StateDump], StateDump]) -> None:
    assert (code, subject) in {(finding.code, finding.subject) for finding in check(put_out(sound()))}


def test_a_circle_names_only_those_that_wait_for_ever() -> None:
    circle = {
        "a": job("a", State.DEPENDS, dependencies=("b",), dependents=("b", "c")),
        "b": job("b", State.DEPENDS, dependencies=("a",), dependents=("a",)),
        "c": job("c", State.DEPENDS, dependencies=("a", "gone")),
        "d": job("d", State.DEPENDS, dependencies=("gone",)),
    }
    dump = sound()
    queue = change(dump.queues["q"], depends=("depends", *circle))
    found = check(change(dump, jobs={**dump.jobs, **circle}, queues={"q": queue}))
    assert {finding.subject for finding in found if finding.code == "circle"} == {"a", "b", "c"}


def test_a_job_whose_history_was_lost_with_its_record_may_begin_with_its_failure() -> None:
    dump = with_job("failed", history=(HistoryEntry("failed", NOW, {"group": SET_ASIDE}),))(sound())
    assert check(dump) == []


def test_days_without_statistics_are_not_compared() -> None:
    """They may have been dropped: statistics are kept for some days only, failed jobs for ever."""
    assert check(with_state(stats={})(sound())) == []
