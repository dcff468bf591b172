"""What a worker may run: tasks and classes by their klass. Nothing is ever looked up by a name from the store."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from stanchion.rules.backoff import Backoff, Exponential
from stanchion.tasks.task import Task
from stanchion.tasks.verdicts import Policy


class Worked(Protocol):
    """The job as its code sees it while it runs."""

    @property
    def queue(self) -> str: ...


class Runnable(NamedTuple):
    """How the jobs of one klass are run."""

    klass: str
    call: Callable[[Any], Any]
    """Given the running job: makes the call. It returns the result, or a coroutine of it."""
    is_async: Callable[[str], bool]
    """Given the queue: is that a coroutine?"""
    timeout: float | None
    backoff: Backoff
    module: str
    """Where the code is defined: what another process imports to have it."""
    policy: Policy = Policy()


def of_task(task: Task[Any, Any, Any]) -> Runnable:
    """A task's jobs are calls of its function."""
    options = task.defaults
    return Runnable(
        task.name,
        lambda job: task.call(job.record),
        lambda queue: task.is_async,
        options.timeout,
        options.backoff,
        task.function.__module__,
        options.policy,
    )


def of_class(klass: type, name: str) -> Runnable:
    """A class in the style of Qless: the job is given to its method named after the queue, or else to ``process``."""
    if not any(callable(getattr(klass, attribute, None)) for attribute in dir(klass) if not attribute.startswith("_")):
        raise TypeError(f"{klass.__qualname__} has no method named after a queue, and no process(job)")

    def call(job: Worked) -> Any:
        method = _method_name(klass, job.queue)
        if method is None:
            raise LookupError(f"{klass.__qualname__} has no method for queue {job.queue!r}, and no process(job)")
        plain = inspect.isfunction(inspect.getattr_static(klass, method))
        return getattr(klass() if plain else klass, method)(job)

    def is_async(queue: str) -> bool:
        return inspect.iscoroutinefunction(getattr(klass, _method_name(klass, queue) or "", None))

    return Runnable(name, call, is_async, None, Exponential(), klass.__module__)


def name_of(code: Any) -> str:
    """The stable name of a function or class: its module and where it stands in it.

    A script that is run has no module name; it goes by the name of its file, as a worker that imports it will call it.
    """
    module = code.__module__
    if module == "__main__":
        main = sys.modules["__main__"]
        spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
        module = spec.name.removesuffix(".__main__") if spec else Path(file).stem if file else module
    return f"{module}.{code.__qualname__}"


def _method_name(klass: type, queue: str) -> str | None:
    for name in (queue, "process"):
        # Only what the class itself shows: a queue named __init__ or _private names no method.
        if not name.startswith("_") and callable(getattr(klass, name, None)):
            return name
    return None
