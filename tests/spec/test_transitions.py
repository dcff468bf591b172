"""Every verb on a job in every state: what the table of transitions allows happens, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stanchion import commands as c
from stanchion.errors import StanchionError
from stanchion.states import TRANSITIONS, State
from tests.spec.rig import Rig, spec

pytestmark = pytest.mark.slow


def bring(q: Rig, state: State | None) -> None:
    """Get job "a" of queue q into a state; "other" of queue o is held by worker v, in throttle t."""
    q.run(c.SetThrottle("t", 1), 0)
    q.put("other", 0, queue="o", throttles=["t"])
    q.pop(0, worker="v", queue="o")
    if state is None:
        return
    delay, depends = (50 if state == State.SCHEDULED else 0), (["other"] if state == State.DEPENDS else [])
    q.put("a", 0, delay=delay, depends=depends, throttles=["t"] if state == State.THROTTLED else [])
    if state in (State.RUNNING, State.STALLED, State.FAILED, State.COMPLETE):
        q.pop(0)
    if state == State.STALLED:
        q.run(c.Timeout(["a"]))
    if state == State.FAILED:
        q.fail("a")
    if state == State.COMPLETE:
        q.complete("a")


VERBS: dict[str, Callable[[Rig], object]] = {
    "put": lambda q: q.put("a", 1),
    "requeue": lambda q: q.run(c.Requeue("q", "a"), 1),
    "pop": lambda q: q.pop(1),
    "complete": lambda q: q.complete("a", 1),
    "fail": lambda q: q.fail("a", 1),
    "retry": lambda q: q.retry("a", 1),
    "timeout": lambda q: q.run(c.Timeout(["a"]), 1),
    "unfail": lambda q: q.run(c.Unfail("q", "g"), 1),
    "cancel": lambda q: q.run(c.Cancel(["a"]), 1),
    "due": lambda q: q.pop(50, count=0) or q.run(c.Peek("q", 1), 50),
    "release": lambda q: q.complete("other", 1, worker="v", queue="o"),
    "lapse": lambda q: q.pop(70, worker="u"),
}


def state_of(q: Rig) -> State | None:
    job = q.run(c.Get("a"))
    return None if job is None else job.state


@spec("state.one-place")
@pytest.mark.parametrize("before", [None, *State], ids=str)
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_does_what_the_table_says(q: Rig, verb: str, before: State | None) -> None:
    bring(q, before)
    assert state_of(q) == before
    try:
        VERBS[verb](q)
    except StanchionError:
        assert before not in TRANSITIONS[verb]
        assert state_of(q) == before
        return
    after = state_of(q)
    if after != before:
        allowed = TRANSITIONS[verb].get(before, frozenset()) | housekeeping(before)
        assert after in allowed, (before, verb, after)


def housekeeping(before: State | None) -> frozenset[State | None]:
    """Where a job may get to besides, while another verb runs: a pop sees to all of its queue."""
    steps = [TRANSITIONS[verb].get(before, frozenset()) for verb in ("due", "release", "throttle", "lapse")]
    reached = frozenset[State | None]().union(*steps)
    popped = {State.RUNNING} if (reached | {before}) & {State.WAITING, State.STALLED} else set()
    return reached | popped
