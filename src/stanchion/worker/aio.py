"""One event loop for the code of jobs that awaits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

ENDING_SECONDS = 2.0
"""How long cancelled code may take to end when the loop is closed."""


class LoopThread:
    """An event loop on a thread of its own, started when it is first needed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, job: Coroutine[Any, Any, None]) -> Callable[[], None]:
        """Run a coroutine, which must not raise, on the loop. The answer cancels it."""
        loop = self._running()
        future = asyncio.run_coroutine_threadsafe(job, loop)

        def cancel() -> None:
            with suppress(RuntimeError):  # the loop is closed: nothing runs there any more
                loop.call_soon_threadsafe(future.cancel)

        return cancel

    def close(self) -> None:
        """Cancel what still runs, give it a moment to end, and stop the loop."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(2 * ENDING_SECONDS)  # code that blocks the loop cannot be cancelled

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._run, args=(self._loop,), name="stanchion-loop", daemon=True)
            self._thread.start()
        return self._loop

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            loop.run_until_complete(_cancel_all())
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        if not task.cancelling():  # a second cancellation would break into its cleaning up
            task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=ENDING_SECONDS)
