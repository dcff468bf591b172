"""How a task's jobs are put and run."""

from __future__ import annotations

from typing import Any, NamedTuple

from stanchion.records import DependencyPolicy
from stanchion.rules.backoff import Backoff, Exponential


class Options(NamedTuple):
    """The options of a task, or of one put.

    ``retries``: how often a job is tried again after an exception or a lost lock; -1: without end. ``backoff`` gives the seconds
    before each. ``timeout``: seconds that one try may take. ``delay``: seconds before the first.
    """

    queue: str = "default"
    priority: float = 0.0
    retries: int = 5
    tags: tuple[str, ...] = ()
    throttles: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()
    on_dependency_failure: DependencyPolicy = "wait"
    delay: float = 0.0
    timeout: float | None = None
    backoff: Backoff = Exponential()
    jid: str | None = None
    if_absent: bool = False

    def but(self, **changes: Any) -> Options:
        """These options with some changed. TypeError for one that does not exist."""
        unknown = changes.keys() - set(self._fields)
        if unknown:
            raise TypeError(f"no such option: {', '.join(sorted(unknown))}; there are {', '.join(self._fields)}")
        lists = {name: tuple(value) for name, value in changes.items() if name in ("tags", "throttles", "depends")}
        return self._replace(**{**changes, **lists})
