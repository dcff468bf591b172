"""A command on its way through a store, and how its caller learns what came of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from stanchion.engine.sqlite.transaction import Transaction


class Request:
    """One piece of work, its time, and in the end its reply or error."""

    __slots__ = ("_done", "_ready", "error", "grows", "leads", "now", "reply", "started", "work")

    def __init__(
        self,
        work: Callable[[Transaction], Any],
        now: float | None,
        grows: bool,
        done: Callable[[Request], None] | None = None,
    ) -> None:
        self.work = work
        self.now = now
        self.grows = grows
        self.reply: Any = None
        self.error: BaseException | None = None
        self.started = False
        self.leads = False
        self._done = done
        # A plain lock, held until there is something to tell: the cheapest thing that a thread can sleep on.
        self._ready = threading.Lock()
        self._ready.acquire()

    @property
    def awaited(self) -> bool:
        """Its caller is no thread that could lead."""
        return self._done is not None

    def wait(self, seconds: float) -> bool:
        """Sleep until it is over, or until it is this caller's turn to lead."""
        return self._ready.acquire(timeout=seconds)

    def wake(self) -> None:
        """Wake its caller: it is over, or the caller is the leader now."""
        if self._ready.locked():
            self._ready.release()

    def finish(self) -> None:
        """Tell its caller that it is over."""
        self.leads = False
        if self._done is not None:
            self._done(self)
        else:
            self.wake()

    def outcome(self) -> Any:
        """The reply, or the error raised."""
        if self.error is not None:
            raise self.error
        return self.reply
