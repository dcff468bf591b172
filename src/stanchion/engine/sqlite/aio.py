"""The embedded engine for callers that await: no task ever waits in a thread, and none sleeps in one."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, ParamSpec, Self, TypeVar

from stanchion.commands import Command
from stanchion.engine.checks import check_now
from stanchion.engine.contract import Diagnosis, Finding, Outcome, StateDump
from stanchion.engine.sqlite.engine import LONGEST_SLEEP, SQLiteEngine
from stanchion.engine.sqlite.handlers.next_time import seconds_until_work
from stanchion.engine.sqlite.leading import TIMEOUT
from stanchion.engine.sqlite.requests import Request
from stanchion.engine.sqlite.store import Store
from stanchion.engine.sqlite.subscription import LISTENING_SECONDS, Subscription
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.engine.sqlite.work import chunks, grows, work_of, work_of_many
from stanchion.errors import OutcomeUnknown, StanchionError, StoreBusy, StoreClosed
from stanchion.records import Event

R = TypeVar("R")
P = ParamSpec("P")

READERS = 4
"""Threads in which commands that only read are run. The event loop's own are left to the program: it may fill them."""


class AsyncSQLiteEngine:
    """The engine on a SQLite file, or in memory. Commands of many tasks share transactions, as those of threads do."""

    def __init__(self, url: str) -> None:
        self._engine = SQLiteEngine(url)
        self._threads = _Threads()
        self.url = url
        self.capabilities = self._engine.capabilities

    async def run(
        self,
        command: Command[R],
        *,
        now: float | None = None,
        token: str | None = None,
        timeout: float | None = None,
    ) -> R:
        """Run one command: see :class:`stanchion.engine.contract.Engine`.

        A task that is canceled meanwhile takes its command back if it has not started; else it may have happened.
        """
        check_now(command.name, now)
        if command.reads:
            return await self._in_thread(self._engine.run, command, now=now)
        work = work_of(command, token)
        return await self._write(command.name, work, now, timeout, grows(command))  # type: ignore[no-any-return]

    async def run_many(
        self, commands: Sequence[Command[Any]], *, now: float | None = None, timeout: float | None = None
    ) -> list[Outcome]:
        """Run several commands, each atomic by itself: see :meth:`SQLiteEngine.run_many`."""
        check_now("run_many", now)
        outcomes: list[Outcome] = []
        for chunk in chunks(commands):
            try:
                outcomes += await self._write("run_many", work_of_many(chunk), now, timeout, grows(*chunk))
            except StanchionError as error:
                if not outcomes:
                    raise
                return outcomes + [Outcome(error=error)] * (len(commands) - len(outcomes))
        return outcomes

    def ticket(self) -> object:
        """A mark of this moment for ``wait``."""
        return self._engine.ticket()

    async def wait(self, queues: Sequence[str], timeout: float, *, since: object = None) -> bool:
        """Sleep until one of the queues may have something to pop: see :meth:`SQLiteEngine.wait`."""
        store, deadline = self._engine.shared.get(), time.monotonic() + timeout
        with _heard(store) as rung:
            while True:
                rung.clear()
                seconds = await self._in_thread(store.read, lambda tx: seconds_until_work(tx, queues))
                left = deadline - time.monotonic()
                if seconds <= 0 or left <= 0:
                    return seconds <= 0
                await _at_most(min(seconds, left, LONGEST_SLEEP), rung)

    async def subscribe(self, channels: Sequence[str]) -> AsyncSubscription:
        """Listen to channels, from every process."""
        subscription = await self._in_thread(self._engine.subscribe, channels)
        return AsyncSubscription(self._engine.shared.get(), subscription, self._in_thread)

    async def dump(self, *, now: float | None = None) -> StateDump:
        """The whole state at one moment."""
        return await self._in_thread(self._engine.dump, now=now)

    async def check(self, *, fix: bool = False, now: float | None = None) -> list[Finding]:
        """Everything that is wrong with the state; with ``fix``, mended as far as that can be done without a guess."""
        return await self._in_thread(self._engine.check, fix=fix, now=now)

    async def diagnose(self) -> Diagnosis:
        """What the file and SQLite are like."""
        return await self._in_thread(self._engine.diagnose)

    async def close(self) -> None:
        """Let go of the file, once what runs is over."""
        await self._threads.run(self._engine.close)
        self._threads.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def _in_thread(self, function: Callable[P, R], /, *args: P.args, **options: P.kwargs) -> R:
        self._engine.shared.get()  # says so if it is closed
        return await self._threads.run(function, *args, **options)

    async def _write(
        self,
        name: str,
        work: Callable[[Transaction], Any],
        now: float | None,
        timeout: float | None,
        grows: bool,
    ) -> Any:
        store, seconds = self._engine.shared.get(), TIMEOUT if timeout is None else timeout
        loop = asyncio.get_running_loop()
        over = asyncio.Event()
        request = store.run_awaited(work, lambda _: _tell(loop, over), now=now, grows=grows)
        try:
            if not await _at_most(seconds, over):
                await self._give_up(store, request, over, name, seconds)
        except asyncio.CancelledError:
            store.discard(request)
            raise
        return request.outcome()

    async def _give_up(self, store: Store, request: Request, over: asyncio.Event, name: str, seconds: float) -> None:
        if store.discard(request):
            raise StoreBusy(path=store.location.path, seconds=seconds, holder="")
        # It is running now: its outcome is usually a moment away.
        if not await _at_most(seconds, over):
            raise OutcomeUnknown(command=name, problem=f"no answer within {2 * seconds:.1f} s")


class _Threads:
    """Threads of our own, started when they are first needed, and anew in a forked child, which has none of them."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._pid = 0

    async def run(self, function: Callable[P, R], /, *args: P.args, **options: P.kwargs) -> R:
        """Call the function in one of them."""
        if self._pool is None or self._pid != os.getpid():
            self._pool, self._pid = ThreadPoolExecutor(READERS, thread_name_prefix="stanchion-read"), os.getpid()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, partial(function, *args, **options))

    def close(self) -> None:
        """Let them end."""
        if self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None


class AsyncSubscription:
    """Events, awaited. None is lost with a task that is canceled while it waits for one."""

    def __init__(self, store: Store, subscription: Subscription, in_thread: Callable[..., Any]) -> None:
        self._store = store
        self._subscription = subscription
        self._in_thread = in_thread

    async def get(self, timeout: float | None = None) -> Event | None:
        """The next event; None when ``timeout`` seconds pass without one, or once it or its engine is closed."""
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        with _heard(self._store) as rung:
            while not self._subscription.closed:
                rung.clear()
                event = self._subscription.take()
                if event is None:
                    try:
                        await self._in_thread(self._subscription.fetch)
                    except StoreClosed:
                        return None
                    event = self._subscription.take()
                left = deadline - time.monotonic()
                if event is not None or left <= 0:
                    return event
                await _at_most(min(left, LISTENING_SECONDS / 3), rung)
        return None

    async def __aiter__(self) -> AsyncIterator[Event]:
        while (event := await self.get()) is not None:
            yield event

    async def close(self) -> None:
        """Listen no longer; a ``get`` that waits returns None."""
        with suppress(StoreClosed):
            await self._in_thread(self._subscription.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()


@contextmanager
def _heard(store: Store) -> Iterator[asyncio.Event]:
    """An event that is set whenever some process commits a change that may give work or that published something."""
    loop, rung = asyncio.get_running_loop(), asyncio.Event()
    with store.heard(lambda: _tell(loop, rung)):
        yield rung


def _tell(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(event.set)


async def _at_most(seconds: float, event: asyncio.Event) -> bool:
    """Wait for the event; False if it does not come within so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True
