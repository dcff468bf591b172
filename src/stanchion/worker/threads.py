"""Threads that run the code of jobs, and one that watches the queues for the loop."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue

from stanchion.client.sync.client import Client
from stanchion.worker.loop import TROUBLE_SECONDS

log = logging.getLogger("stanchion.worker")

Call = Callable[[], None]

IDLE_SECONDS = 60.0
"""The longest sleep of an idle worker. It is woken by puts and by the times of scheduled jobs; this bound is for safety."""


class ThreadPool:
    """Threads started as they are needed, up to a number. They never keep the process from ending."""

    def __init__(self, threads: int) -> None:
        self._most = threads
        self._calls: SimpleQueue[Call | None] = SimpleQueue()
        self._started = 0
        self._idle = threading.Semaphore(0)

    def submit(self, call: Call) -> None:
        """Let a thread run ``call``, which must not raise."""
        if not self._idle.acquire(blocking=False) and self._started < self._most:
            self._started += 1
            threading.Thread(target=self._run, name=f"stanchion-job-{self._started}", daemon=True).start()
        self._calls.put(call)

    def resize(self, threads: int) -> None:
        """Start no more threads than this from now on."""
        self._most = threads

    def close(self) -> None:
        """Let the threads end when they have nothing to do any more."""
        for _ in range(self._started):
            self._calls.put(None)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
            self._idle.release()


class Watch:
    """Waits for work on behalf of the loop, which waits for more than that, and tells it."""

    def __init__(self, client: Client, queues: Sequence[str], tell: Call) -> None:
        self._client = client
        self._queues = queues
        self._tell = tell
        self._tickets: SimpleQueue[object] = SimpleQueue()
        self._watching = False
        self._closed = False
        threading.Thread(target=self._run, name="stanchion-watch", daemon=True).start()

    def ask(self, ticket: object) -> None:
        """Tell when there may be work that came after the ticket, unless that was asked before."""
        if not self._watching:
            self._watching = True
            self._tickets.put(ticket)

    def close(self) -> None:
        """Tell nothing any more."""
        self._closed = True
        self._tickets.put(None)

    def _run(self) -> None:
        while (ticket := self._tickets.get()) is not None:
            try:
                self._client.wait(self._queues, IDLE_SECONDS, since=ticket)
            except Exception as error:  # noqa: BLE001 - whatever it is, this thread must live: without it no job is taken
                if self._closed:
                    return
                log.warning("the queues cannot be watched, trying again: %s", error)
                time.sleep(TROUBLE_SECONDS)
            self._watching = False
            self._tell()
