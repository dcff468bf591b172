"""The states of a job and the transitions between them, as data.

``TRANSITIONS`` is the table of ``docs/specification.md``: engines check against it in tests, the reference prints it.
"""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Where a job is in its life."""

    WAITING = "waiting"  # ready to be popped
    SCHEDULED = "scheduled"  # not before its time
    DEPENDS = "depends"  # waits for other jobs
    THROTTLED = "throttled"  # waits for a place in a throttle
    RUNNING = "running"  # locked by a worker
    STALLED = "stalled"  # timed out by hand: ready for another worker, first in line
    FAILED = "failed"  # kept until unfailed, moved or canceled
    COMPLETE = "complete"  # kept for a while, then forgotten


NONE = None
"""The state of a job that does not exist."""

IN_LINE = frozenset({State.WAITING, State.SCHEDULED, State.DEPENDS, State.THROTTLED})
"""What a job can be right after it was put."""

TRANSITIONS: dict[str, dict[State | None, frozenset[State | None]]] = {
    "put": dict.fromkeys((NONE, *State), IN_LINE | {State.FAILED, NONE}),
    "requeue": dict.fromkeys(tuple(State), IN_LINE | {State.FAILED, NONE}),
    "due": {State.SCHEDULED: frozenset({State.WAITING, State.THROTTLED})},
    "release": {State.DEPENDS: frozenset({State.WAITING, State.SCHEDULED, State.THROTTLED})},
    "throttle": {State.WAITING: frozenset({State.THROTTLED}), State.THROTTLED: frozenset({State.WAITING})},
    "pop": {State.WAITING: frozenset({State.RUNNING}), State.STALLED: frozenset({State.RUNNING})},
    "complete": {State.RUNNING: frozenset({State.COMPLETE}) | IN_LINE},
    "fail": {State.RUNNING: frozenset({State.FAILED})},
    "retry": {State.RUNNING: frozenset({State.WAITING, State.SCHEDULED, State.THROTTLED, State.FAILED})},
    "timeout": {State.RUNNING: frozenset({State.STALLED})},
    "lapse": {State.RUNNING: frozenset({State.RUNNING, State.FAILED})},
    "dependency-failed": {State.DEPENDS: frozenset({State.FAILED, State.WAITING, State.SCHEDULED, State.THROTTLED, NONE})},
    "unfail": {State.FAILED: frozenset({State.WAITING, State.THROTTLED})},
    "set-aside": {State.WAITING: frozenset({State.FAILED}), State.RUNNING: frozenset({State.FAILED})},
    "cancel": dict.fromkeys(tuple(State), frozenset({NONE})),
    "forget": {State.COMPLETE: frozenset({NONE})},
}
"""Verb → state before → states after. ``None`` stands for no job."""
