"""Threads that run the code of jobs, and one event loop for code that awaits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from typing import Any

Call = Callable[[], None]


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

    def close(self) -> None:
        """Let the threads end when they have nothing to do any more."""
        for _ in range(self._started):
            self._calls.put(None)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
            self._idle.release()


class LoopThread:
    """An event loop on a thread of its own, started when it is first needed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def submit(self, job: Coroutine[Any, Any, None]) -> Callable[[], None]:
        """Run a coroutine, which must not raise, on the loop. The answer cancels it."""
        loop = self._running()
        future = asyncio.run_coroutine_threadsafe(job, loop)

        def cancel() -> None:
            loop.call_soon_threadsafe(future.cancel)

        return cancel

    def close(self) -> None:
        """Stop the loop."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._run, args=(self._loop,), name="stanchion-loop", daemon=True).start()
        return self._loop

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()
