"""The app: a client, and the code that its jobs may run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ParamSpec, Protocol, TypeVar, Unpack, overload

from stanchion.client.sync.client import Client
from stanchion.commands import Put
from stanchion.tasks.options import Options, TaskOptions
from stanchion.tasks.registry import Runnable, name_of, of_class, of_task
from stanchion.tasks.task import Task

P = ParamSpec("P")
R = TypeVar("R")
K = TypeVar("K", bound=type)


class Decorator(Protocol):
    """What ``@app.task(…)`` is: it makes a task of a function."""

    @overload
    def __call__(self, function: Callable[P, Coroutine[Any, Any, R]]) -> Task[P, Coroutine[Any, Any, R], R]: ...
    @overload
    def __call__(self, function: Callable[P, R]) -> Task[P, R, R]: ...


class App:
    """An application's queues and tasks.

    ``url`` is that of :class:`stanchion.Client`; nothing is opened before it is needed, so that importing stays free of effects.
    """

    def __init__(self, url: str | None = None) -> None:
        self._url = url
        self._client: Client | None = None
        self._lent: Client | None = None
        self._lock = threading.Lock()
        self._runnables: dict[str, Runnable] = {}

    @property
    def client(self) -> Client:
        """The app's client, opened when it is first asked for."""
        with self._lock:
            if self._lent is not None:
                return self._lent
            if self._client is None:
                self._client = Client(self._url)
            return self._client

    @contextmanager
    def using(self, client: Client) -> Iterator[None]:
        """Use another client for the time of a block, whatever ``use`` and ``close`` are told. RuntimeError if it does already."""
        with self._lock:
            if self._lent is not None:
                raise RuntimeError("the app uses another client already: leave that block before entering one")
            self._lent = client
        try:
            yield
        finally:
            with self._lock:
                self._lent = None

    @property
    def url(self) -> str | None:
        """The URL that it was given; None: that of the environment, or the user's own."""
        return self._url

    def use(self, url: str) -> None:
        """Use the store at another URL from now on."""
        self.close()
        self._url = url

    @property
    def runnables(self) -> dict[str, Runnable]:
        """The code that jobs may run, by klass."""
        return dict(self._runnables)

    @overload
    def task(self, function: Callable[P, Coroutine[Any, Any, R]], /) -> Task[P, Coroutine[Any, Any, R], R]: ...
    @overload
    def task(self, function: Callable[P, R], /) -> Task[P, R, R]: ...
    @overload
    def task(self, /, *, name: str | None = None, **options: Unpack[TaskOptions]) -> Decorator: ...
    def task(
        self, function: Callable[..., Any] | None = None, /, *, name: str | None = None, **options: Unpack[TaskOptions]
    ) -> Any:
        """Make a task of a function: ``@app.task``, or ``@app.task(queue="mail", retries=3)`` with any of :class:`TaskOptions`.

        ``name`` is the klass of its jobs; it is the function's module and name unless given.
        """

        def decorate(function: Callable[..., Any]) -> Task[..., Any, Any]:
            task: Task[..., Any, Any] = Task(
                function, name or name_of(function), Options().but(**options), lambda: self.client
            )
            self._add(of_task(task))
            return task

        return decorate if function is None else decorate(function)

    def register(self, klass: K, *, name: str | None = None) -> K:
        """Let workers run jobs of a class in the style of Qless: a method per queue, or ``process(job)``. Usable as decorator."""
        self._add(of_class(klass, name or name_of(klass)))
        return klass

    def put_many(self, puts: Sequence[Put]) -> tuple[str, ...]:
        """Put jobs (see ``task.job``) in one atomic change; their jids."""
        return self.client.put_many(puts)

    def close(self) -> None:
        """Close the client, if it was opened."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _add(self, runnable: Runnable) -> None:
        if runnable.klass in self._runnables:
            raise ValueError(f"there is a task {runnable.klass} already: give one of them another name")
        self._runnables[runnable.klass] = runnable
