"""A task: a function that can be called at once, or put into a queue to be called by a worker."""

from __future__ import annotations

import asyncio
import inspect
import uuid
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, Unpack

from stanchion.client.data import names
from stanchion.client.sync.client import Client
from stanchion.commands import Put
from stanchion.records import Job
from stanchion.tasks.arguments import Arguments
from stanchion.tasks.handle import Handle
from stanchion.tasks.options import OF_THE_TASK, CallOptions, Options

P = ParamSpec("P")
C = TypeVar("C")  # what a call gives: the result, or a coroutine of it
R = TypeVar("R")  # the result


class Task(Generic[P, C, R]):
    """A function with a name and options. Called, it is the function; ``put`` lets a worker call it."""

    def __init__(self, function: Callable[P, C], name: str, options: Options, client: Callable[[], Client]) -> None:
        update_wrapper(self, function)
        self.function = function
        self.name = name
        self.defaults = options
        self.is_async = inspect.iscoroutinefunction(function)
        self._arguments = Arguments(function)
        self._client = client
        self._command(options, "{}")  # a wrong option is an error where it is written, not at the first put

    def __repr__(self) -> str:
        return f"<Task {self.name}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> C:
        return self.function(*args, **kwargs)

    def put(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """Put a job that makes this call into the task's queue."""
        return self._put(self.job(*args, **kwargs))

    async def aput(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """As ``put``, awaited."""
        return await asyncio.to_thread(self._put, self.job(*args, **kwargs))

    def job(self, *args: P.args, **kwargs: P.kwargs) -> Put:
        """The command that ``put`` runs, for ``app.put_many``."""
        return self._command(self.defaults, self._arguments.encode(args, kwargs))

    def options(self, **changes: Unpack[CallOptions]) -> TaskWithOptions[P, R]:
        """The task with other options: ``task.options(queue="slow", delay=60).put(…)``. See :class:`CallOptions`."""
        for name in OF_THE_TASK:
            if name in changes:
                raise TypeError(f"{name} is the same for all calls of a task: give it to @app.task")
        return TaskWithOptions(self, self.defaults.but(**changes))

    def handle(self, jid: str) -> Handle[R]:
        """A handle on a job of this task that was put before."""
        return Handle(self._client, jid, self._arguments.result)

    def call(self, job: Job) -> C:
        """Make the call that a job asks for."""
        args, kwargs = self._arguments.decode(job.data)
        return self.function(*args, **kwargs)

    def _put(self, command: Put) -> Handle[R]:
        self._client().run(command)
        return self.handle(command.jid)

    def _command(self, options: Options, data: str) -> Put:
        return Put(
            queue=options.queue,
            jid=uuid.uuid4().hex if options.jid is None else options.jid,
            klass=self.name,
            data=data,
            delay=options.delay,
            priority=options.priority,
            tags=None if options.tags is None else names(options.tags),
            retries=options.retries,
            depends=names(options.depends),
            throttles=names(options.throttles),
            on_dependency_failure=options.on_dependency_failure,
            if_absent=options.if_absent,
        )


class TaskWithOptions(Generic[P, R]):
    """A task as it is put with other options than its own."""

    def __init__(self, task: Task[P, Any, R], options: Options) -> None:
        self._task = task
        self._options = options

    def put(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """Put a job that makes this call."""
        return self._task._put(self.job(*args, **kwargs))

    async def aput(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """As ``put``, awaited."""
        return await asyncio.to_thread(self._task._put, self.job(*args, **kwargs))

    def job(self, *args: P.args, **kwargs: P.kwargs) -> Put:
        """The command that ``put`` runs, for ``app.put_many``."""
        return self._task._command(self._options, self._task._arguments.encode(args, kwargs))
