"""Which queues feed which pool: ``mail=async:100`` becomes a lane. No I/O."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, cast

Kind = Literal["thread", "async", "process"]

ASYNC_SLOTS = 100
"""Jobs at once of a lane for coroutines, unless it says otherwise."""

_SPEC = re.compile(r"(?P<queue>.+)=(?P<kind>thread|async|process)(?::(?P<slots>\d+))?", re.DOTALL)


class Lane(NamedTuple):
    """A pool of one kind, how many jobs it runs at once, and the queues that feed it, in their order."""

    kind: Kind
    slots: int
    queues: tuple[str, ...]


def lanes_of(queues: Sequence[str], threads: int) -> tuple[Lane, ...]:
    """The lanes of a worker: one for all queues that name no kind, on threads, and one for each that does.

    ``queue=kind`` or ``queue=kind:slots``; a queue whose name only looks a bit like that is a queue. ValueError for what
    cannot be.
    """
    if not queues or isinstance(queues, str):
        raise ValueError("a worker needs a list of queues")
    if threads < 1:
        raise ValueError("a worker needs at least one thread")
    parsed = [_parse(queue, threads) for queue in queues]
    plain = tuple(queue for queue, lane in zip(queues, parsed, strict=True) if lane is None)
    lanes: list[Lane] = []
    for lane in parsed:
        if lane is not None:
            lanes.append(lane)
        elif plain:
            lanes.append(Lane("thread", threads, plain))
            plain = ()
    return tuple(lanes)


def _parse(text: str, threads: int) -> Lane | None:
    match = _SPEC.fullmatch(text)
    if match is None:
        return None
    kind = cast("Kind", match["kind"])
    defaults = {"thread": threads, "async": ASYNC_SLOTS, "process": os.cpu_count() or 1}
    slots = int(match["slots"]) if match["slots"] else defaults[kind]
    if slots < 1:
        raise ValueError(f"a worker needs at least one slot for {match['queue']}")
    return Lane(kind, slots, (match["queue"],))
