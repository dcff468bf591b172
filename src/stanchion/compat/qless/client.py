"""The client: everything that the queue can do, as qless-py names it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Self, TypeVar

from stanchion import commands as c
from stanchion.client.sync.client import Client as NativeClient
from stanchion.compat.qless.calls import listed
from stanchion.compat.qless.config import Config
from stanchion.compat.qless.exceptions import translated
from stanchion.compat.qless.insight import Jobs, Queues, Workers
from stanchion.compat.qless.listener import Events
from stanchion.compat.qless.urls import url_of

R = TypeVar("R")


class Client:
    """A client of the queues at a URL: that of a server, ``redis://localhost:6379`` unless given, or any of Stanchion's.

    ``hostname`` is the worker name that it pops under, this machine's unless given. ``host``, ``port``, ``db``, ``username``,
    ``password`` and ``ssl`` say what the URL leaves out. It is opened when it is first used; threads can share it.
    """

    def __init__(self, url: str | None = None, hostname: str | None = None, **server: Any) -> None:
        self._url = url_of(url, **server)
        self._lock = threading.Lock()
        self._native: NativeClient | None = None
        self._prepare(self._open, hostname or socket.gethostname())

    @classmethod
    def through(cls, native: Callable[[], NativeClient], worker_name: str) -> Self:
        """One that goes through another client, which stays open when this one is closed."""
        client = cls.__new__(cls)
        client._native = None
        client._prepare(native, worker_name)
        return client

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.worker_name}>"

    @property
    def stanchion(self) -> NativeClient:
        """Stanchion's own client, which can do more: throttles, bulk puts, results, policies for lost dependencies."""
        return self._opened()

    @property
    def url(self) -> str:
        """Where the queues are."""
        return self.stanchion.url

    @cached_property
    def events(self) -> Events:
        """What happens to tracked jobs, as it happens."""
        return Events(self)

    def run(self, command: Callable[..., c.Command[R]], *args: Any, **options: Any) -> R:
        """Run a command of Stanchion's vocabulary, with these arguments. Raises QlessException where it is refused."""
        with translated():
            return self.stanchion.run(command(*args, **options))

    def track(self, jid: str) -> str:
        """Let a job emit events; "1" if it did not yet, else "0"."""
        return str(int(self.run(c.Track, jid)))

    def untrack(self, jid: str) -> str:
        """Let a job emit no events any more; "1" if it did, else "0"."""
        return str(int(self.run(c.Untrack, jid)))

    def tags(self, offset: int = 0, count: int = 100) -> list[str]:
        """The tags that two or more jobs bear, most frequent first."""
        return listed(self.run(c.TopTags, offset, count))

    def unfail(self, group: str, queue: str, count: int = 500) -> int:
        """Put failed jobs of a group back to wait in a queue, the longest-failed first; how many."""
        return self.run(c.Unfail, queue, group, count)

    def bulk_cancel(self, jids: Iterable[str]) -> list[str]:
        """Remove jobs, all or none; the jids of what was removed."""
        return listed(self.run(c.Cancel, tuple(jids)))

    def close(self) -> None:
        """Let go of the queues; the next use opens them again."""
        native, self._native = self._native, None
        if native is not None:
            native.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _prepare(self, native: Callable[[], NativeClient], worker_name: str) -> None:
        self._opened = native
        self.worker_name = worker_name
        self.jobs = Jobs(self)
        self.queues = Queues(self)
        self.config = Config(self)
        self.workers = Workers(self)

    def _open(self) -> NativeClient:
        with self._lock:
            if self._native is None:
                self._native = NativeClient(self._url)
            return self._native
