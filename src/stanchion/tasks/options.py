"""How a task's jobs are put and run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Unpack

from stanchion.client.options import PutOptions
from stanchion.records import DependencyPolicy
from stanchion.rules.backoff import Backoff, Exponential


class CallOptions(PutOptions, total=False):
    """How one call is put: as :class:`PutOptions`, and ``queue``."""

    queue: str


class TaskOptions(CallOptions, total=False):
    """How a task's calls are put and run.

    ``retries``: how often a job is tried again after an exception or a lost lock; -1: without end. ``backoff`` gives the seconds
    before each. ``timeout``: seconds that one try may take.
    """

    timeout: float | None
    backoff: Backoff


class Options(NamedTuple):
    """All that can be said about a task, or about one of its calls."""

    queue: str = "default"
    jid: str | None = None
    delay: float = 0.0
    priority: float | None = 0.0
    tags: Sequence[str] | None = ()
    retries: int | None = 5
    depends: Sequence[str] = ()
    throttles: Sequence[str] = ()
    on_dependency_failure: DependencyPolicy = "wait"
    if_absent: bool = False
    timeout: float | None = None
    backoff: Backoff = Exponential()

    def but(self, **changes: Unpack[TaskOptions]) -> Options:
        """These options with some changed. TypeError or ValueError for what cannot be."""
        unknown = changes.keys() - set(self._fields)
        if unknown:
            raise TypeError(f"no such option: {', '.join(sorted(unknown))}; there are {', '.join(self._fields)}")
        changed = self._replace(**changes)
        if changed.timeout is not None and not 0 < changed.timeout < math.inf:
            raise ValueError(f"timeout must be a number of seconds above 0, not {changed.timeout!r}")
        if not callable(changed.backoff):
            raise TypeError(f"backoff must be Constant, Linear, Exponential or a function, not {changed.backoff!r}")
        return changed


OF_THE_TASK = ("timeout", "backoff")
"""Options that a worker reads from the task, not from the job."""
