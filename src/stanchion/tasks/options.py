"""How a task's jobs are put and run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Unpack

from stanchion.client.options import PutOptions
from stanchion.records import DependencyPolicy
from stanchion.rules.backoff import Backoff, Exponential
from stanchion.tasks.verdicts import Kinds, Policy


class CallOptions(PutOptions, total=False):
    """How one call is put: as :class:`PutOptions`, and ``queue``."""

    queue: str


class TaskOptions(CallOptions, total=False):
    """How a task's calls are put and run.

    ``retries``: how often a job is tried again after an exception or a lost lock; -1: without end. ``backoff`` gives the seconds
    before each. ``timeout``: seconds that one try may take. An exception counts as done if it is one of ``ignore``, fails the job
    at once if it is one of ``fail_on`` or none of ``retry_on``, and else costs a retry.
    """

    timeout: float | None
    backoff: Backoff
    retry_on: Kinds
    fail_on: Kinds
    ignore: Kinds


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
    retry_on: Kinds = BaseException
    fail_on: Kinds = ()
    ignore: Kinds = ()

    @property
    def policy(self) -> Policy:
        """What exceptions mean."""
        return Policy(self.retry_on, self.fail_on, self.ignore)

    def but(self, **changes: Unpack[TaskOptions]) -> Options:
        """These options with some changed. TypeError or ValueError for what cannot be."""
        unknown = changes.keys() - set(self._fields)
        if unknown:
            raise TypeError(f"no such option: {', '.join(sorted(unknown))}; there are {', '.join(self._fields)}")
        changed = self._replace(**changes)
        if changed.timeout is not None and not 0 < changed.timeout < math.inf:
            raise ValueError(f"timeout must be a number of seconds above 0, not {changed.timeout!r}")
        for name in ("retry_on", "fail_on", "ignore"):
            _check_kinds(name, getattr(changed, name))
        if not callable(changed.backoff):
            raise TypeError(f"backoff must be Constant, Linear, Exponential or a function, not {changed.backoff!r}")
        return changed


def _check_kinds(name: str, kinds: Any) -> None:
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError(f"{name} must be an exception class or a tuple of them, not {kinds!r}")


OF_THE_TASK = ("timeout", "backoff", "retry_on", "fail_on", "ignore")
"""Options that a worker reads from the task, not from the job."""
