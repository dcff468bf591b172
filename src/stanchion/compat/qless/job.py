"""Jobs and recurring jobs, as objects that can be asked and changed."""

from __future__ import annotations

import inspect
import logging
import time
import types
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from stanchion import commands as c
from stanchion.compat.qless import registry
from stanchion.compat.qless.base import BaseJob
from stanchion.compat.qless.calls import Caller, as_json, as_list, failure_of, history_of, listed
from stanchion.compat.qless.exceptions import LostLockException, QlessException, translated
from stanchion.compat.qless.recurring import RecurringJob
from stanchion.records import Job as JobRecord
from stanchion.states import State
from stanchion.worker.outcome import raised

__all__ = ["BaseJob", "Job", "RecurringJob"]

logger = logging.getLogger("stanchion.compat.qless")

R = TypeVar("R")


class Job(BaseJob):
    """A job. One that was popped can be settled: by ``complete``, ``fail``, ``retry`` or ``move``.

    ``data`` can be changed, also in place: it is kept with the next heartbeat, and when the job is settled. ``run`` is how its
    commands are run: by the client, unless a worker runs the job. ``sandbox`` is then a folder that is removed afterwards.
    """

    def __init__(self, client: Caller, record: JobRecord, run: Callable[[c.Command[Any]], Any] | None = None) -> None:
        super().__init__(client, record)
        self.data = self._data
        self.sandbox = ""
        self._runner = run
        self.state = str(record.state)
        self.tracked = record.tracked
        self.failure = failure_of(record.failure)
        self.history = history_of(record.history)
        self.dependents = sorted(record.dependents)
        self.dependencies = sorted(record.dependencies)
        self.expires_at = record.expires
        self.original_retries = record.retries
        self.retries_left = record.remaining
        self.worker_name = record.worker
        held = record.state == State.RUNNING and record.worker == client.worker_name
        # What was popped once more meanwhile, even by a worker of the same name, is not this run's any more.
        self._attempt = record.attempt if held else None

    def __getitem__(self, key: str) -> Any:
        return self.data.get(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self.data[key] = value

    @property
    def klass(self) -> Any:
        """The class or function that is registered for it. Raises UnregisteredKlass if there is none."""
        return registry.lookup(self.klass_name)

    @property
    def priority(self) -> float:
        """Its priority, higher first; setting it changes it in the queue."""
        return self._priority

    @priority.setter
    def priority(self, priority: float) -> None:
        self._run(c.SetPriority, self.jid, priority)
        self._priority = priority

    @property
    def ttl(self) -> float:
        """Seconds until its lock lapses."""
        return self.expires_at - time.time()

    def process(self) -> Any:
        """Run its class's method named after the queue, or else ``process``. An exception fails the job for good.

        It is for the method to complete the job. The group of failures is ``<queue>-<exception>``.
        """
        try:
            method = self._method()
        except _NoMethod as problem:
            kind, text = problem.args
            logger.error("failing %s: %s", self.jid, text)
            return self.fail(f"{self.queue_name}-{kind}", text)
        try:
            return method(self)
        except Exception as error:
            logger.exception("job %s raised in %s", self.jid, self.queue_name)
            story = raised(error)
            return self._fail(f"{self.queue_name}-{story.name}", story.message, self._data_if_any())

    def complete(self, nextq: str | None = None, delay: float | None = None, depends: Sequence[str] | None = None) -> str:
        """Finish the job, or send it on to the queue ``nextq``, after ``delay`` seconds and the jobs it depends on; its state."""
        data = as_json(self.data, "complete")
        later = {"next": nextq, "delay": delay or 0, "depends": tuple(depends or ())} if nextq else {}
        who = (self.jid, self.client.worker_name, self.queue_name)
        return str(self._run(c.Complete, *who, data, attempt=self._attempt, **later))

    def fail(self, group: str, message: str) -> str:
        """Fail the job for good, under a group; its jid."""
        return self._fail(group, message, as_json(self.data, "fail"))

    def retry(self, delay: float = 0, group: str | None = None, message: str | None = None) -> int:
        """Let the job be tried again after ``delay`` seconds; how many retries remain, below 0: it failed."""
        told = {"group": group, "message": message} if group is not None and message is not None else {}
        who = (self.jid, self.queue_name, self.worker_name)
        return int(self._run(c.Retry, *who, delay, attempt=self._attempt, **told))

    def heartbeat(self) -> float:
        """Renew the lock, and keep the data; when it lapses. Raises LostLockException where that is refused."""
        data = as_json(self.data, "heartbeat")
        try:
            expires = self._run(c.Heartbeat, self.jid, self.client.worker_name, data, self._attempt)
        except LostLockException:
            raise
        except QlessException as error:
            raise LostLockException(self.jid) from error
        self.expires_at = float(expires)
        return self.expires_at

    def move(self, queue: str, delay: float = 0, depends: Sequence[str] | None = None) -> str:
        """Move the job to a queue, whatever state it is in: a worker that holds it loses its lock; its jid."""
        data = as_json(self.data, "requeue")
        how = {"delay": delay, "depends": tuple(depends or ())}
        return str(self._run(c.Requeue, queue, self.jid, self.klass_name, data, **how))

    requeue = move

    def cancel(self) -> list[str]:
        """Remove the job with every trace; the jids of what was removed."""
        return listed(self._run(c.Cancel, (self.jid,)))

    def timeout(self) -> None:
        """Take the running job's lock away: it is the next that its queue gives out."""
        self._run(c.Timeout, (self.jid,))

    def tag(self, *tags: str) -> str:
        """Tag the job; all its tags, as a JSON text."""
        return as_list(self._run(c.AddTags, self.jid, tags))

    def untag(self, *tags: str) -> str:
        """Take tags from the job; the tags left, as a JSON text."""
        return as_list(self._run(c.RemoveTags, self.jid, tags))

    def track(self) -> str:
        """Let the job emit events; "1" if it did not yet, else "0"."""
        return str(int(self._run(c.Track, self.jid)))

    def untrack(self) -> str:
        """Let the job emit no events any more; "1" if it did, else "0"."""
        return str(int(self._run(c.Untrack, self.jid)))

    def depend(self, *args: str) -> bool:
        """Let the job, which must be in the depends state, wait for more jobs."""
        return bool(self._run(c.Depend, self.jid, args))

    def undepend(self, *args: str, all: bool = False) -> bool:
        """Let the job no longer wait for some jobs, or for ``all``."""
        return bool(self._run(c.Undepend, self.jid, None if all else args))

    def log(self, message: str, data: dict[str, Any] | None = None) -> None:
        """Add an entry to the job's history."""
        self._run(c.Log, self.jid, message, None if data is None else as_json(data, "log"))

    def _fail(self, group: str, message: str, data: str | None) -> str:
        return str(self._run(c.Fail, self.jid, self.client.worker_name, group, message, data, self._attempt))

    def _data_if_any(self) -> str | None:
        """The data as its code left it; None, so that it stays as it was, if that has no JSON."""
        try:
            return as_json(self.data, "fail")
        except QlessException:
            return None

    def _method(self) -> Callable[[Job], Any]:
        try:
            code = self.klass
        except LookupError as error:
            raise _NoMethod(type(error).__name__, str(error)) from error
        method = self._method_of(code) if isinstance(code, type) else code
        if inspect.iscoroutinefunction(method):
            raise _NoMethod("method-type", f"{method!r} is a coroutine function: make it one of @app.task")
        return method  # type: ignore[no-any-return]

    def _method_of(self, code: type) -> Any:
        # Only what a class shows: a queue named __init__ or _private names no method.
        shown = [name for name in (self.queue_name, "process") if not name.startswith("_") and hasattr(code, name)]
        if not shown:
            raise _NoMethod("method-missing", f'{self.klass_name} has no method "{self.queue_name}", and no "process"')
        method = getattr(code, shown[0])
        if not isinstance(method, types.FunctionType):
            raise _NoMethod("method-type", f"{method!r} is not static")
        return method

    def _run(self, command: Callable[..., c.Command[R]], *args: Any, **options: Any) -> R:
        if self._runner is None:
            return self.client.run(command, *args, **options)
        with translated():
            reply: R = self._runner(command(*args, **options))
            return reply


class _NoMethod(Exception):
    """There is nothing to run for the job: the kind of failure, and why."""
