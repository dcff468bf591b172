"""The embedded engine: every command as a piece of work for the store of its file."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Self, TypeVar

import msgspec

from stanchion.commands import Command, Put, PutMany, Recur, reply_type
from stanchion.engine.contract import Capabilities, Finding, Outcome, StateDump
from stanchion.engine.sqlite import url as urls
from stanchion.engine.sqlite.dump import dump
from stanchion.engine.sqlite.handlers import HANDLERS
from stanchion.engine.sqlite.handlers.next_time import next_time
from stanchion.engine.sqlite.inspection import inspect
from stanchion.engine.sqlite.repair import can_mend, mend
from stanchion.engine.sqlite.requests import Request
from stanchion.engine.sqlite.sharing import SharedStore
from stanchion.engine.sqlite.subscription import Subscription
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.errors import OutcomeUnknown, StanchionError, StoreBusy, TokenReused
from stanchion.records import Event

R = TypeVar("R")

_GROWING = (Put, PutMany, Recur)


class SQLiteEngine:
    """The engine on a SQLite file, or in memory, for callers that block. Any number of threads may use one."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._location = urls.parse(url)
        self._shared = SharedStore(self._location, _shift_leases)
        self.capabilities = Capabilities(
            durable=not self._location.in_memory,
            exact_order=True,
            other_processes=not self._location.in_memory,
        )

    def run(
        self,
        command: Command[R],
        *,
        now: float | None = None,
        token: str | None = None,
        timeout: float | None = None,
    ) -> R:
        """Run one command: see :class:`stanchion.engine.contract.Engine`."""
        store = self._shared.get()
        work = _work(command, token)
        if command.reads:
            return store.read(work, now=now)  # type: ignore[no-any-return]
        return store.run(work, now=now, timeout=timeout, grows=isinstance(command, _GROWING))  # type: ignore[no-any-return]

    def run_many(
        self, commands: Sequence[Command[Any]], *, now: float | None = None, timeout: float | None = None
    ) -> list[Outcome]:
        """Run several commands, each atomic by itself, in one transaction."""
        work: Callable[[Transaction], list[Outcome]] = lambda tx: [_part(tx, command) for command in commands]  # noqa: E731
        grows = any(isinstance(command, _GROWING) for command in commands)
        return self._shared.get().run(work, now=now, timeout=timeout, grows=grows)

    def ticket(self) -> object:
        """A mark of this moment for ``wait``."""
        return self._shared.get().ticket()

    def wait(self, queues: Sequence[str], timeout: float, *, since: object = None) -> bool:
        """Sleep until one of the queues may have something to pop: at a commit that says so, or when a time comes."""
        store = self._shared.get()
        rung = since if isinstance(since, int) else store.ticket()
        seconds = min(timeout, _until(store.read(lambda tx: next_time(tx, queues) - tx.now)))
        return seconds <= 0 or store.sleep(rung, seconds) or seconds < timeout

    def subscribe(self, channels: Sequence[str]) -> Subscription:
        """Listen to channels, from every process."""
        return self._shared.get().subscribe(channels)

    def dump(self, *, now: float | None = None) -> StateDump:
        """The whole state at one moment."""
        return self._shared.get().read(dump, now=now)

    def check(self, *, fix: bool = False, now: float | None = None) -> list[Finding]:
        """Everything that is wrong with the state; with ``fix``, mended as far as that can be done without a guess."""
        store = self._shared.get()
        found = store.read(inspect, now=now)
        return store.run(mend, now=now) if fix and can_mend(found) else found

    def close(self) -> None:
        """Let go of the file. Other clients of this process keep it."""
        self._shared.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class AsyncSQLiteEngine:
    """The engine for callers that await. Commands of many tasks share transactions, as those of threads do."""

    def __init__(self, url: str) -> None:
        self._engine = SQLiteEngine(url)
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
        """Run one command: see :class:`stanchion.engine.contract.Engine`."""
        if command.reads:
            return await asyncio.to_thread(self._engine.run, command, now=now)
        store = self._engine._shared.get()
        loop = asyncio.get_running_loop()
        over = loop.create_future()
        grows = isinstance(command, _GROWING)
        request = store.run_awaited(_work(command, token), _teller(loop, over), now=now, grows=grows)
        try:
            async with asyncio.timeout(timeout):
                await over
        except TimeoutError:
            if store.discard(request):
                raise StoreBusy(path=self.url, seconds=timeout, holder="") from None
            raise OutcomeUnknown(command=command.name, problem=f"no answer within {timeout:.1f} s") from None
        except asyncio.CancelledError:
            store.discard(request)
            raise
        return request.outcome()  # type: ignore[no-any-return]

    async def run_many(
        self, commands: Sequence[Command[Any]], *, now: float | None = None, timeout: float | None = None
    ) -> list[Outcome]:
        """Run several commands, each atomic by itself, in one transaction."""
        return await asyncio.to_thread(self._engine.run_many, commands, now=now, timeout=timeout)

    def ticket(self) -> object:
        """A mark of this moment for ``wait``."""
        return self._engine.ticket()

    async def wait(self, queues: Sequence[str], timeout: float, *, since: object = None) -> bool:
        """Sleep until one of the queues may have something to pop, in steps that a cancelled task need not outlive long."""
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            if await asyncio.to_thread(self._engine.wait, queues, min(left, 1.0), since=since):
                return True
        return False

    async def subscribe(self, channels: Sequence[str]) -> AsyncSubscription:
        """Listen to channels, from every process."""
        return AsyncSubscription(await asyncio.to_thread(self._engine.subscribe, channels))

    async def dump(self, *, now: float | None = None) -> StateDump:
        """The whole state at one moment."""
        return await asyncio.to_thread(self._engine.dump, now=now)

    async def check(self, *, fix: bool = False, now: float | None = None) -> list[Finding]:
        """Everything that is wrong with the state; with ``fix``, mended as far as that can be done without a guess."""
        return await asyncio.to_thread(self._engine.check, fix=fix, now=now)

    async def close(self) -> None:
        """Let go of the file."""
        await asyncio.to_thread(self._engine.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()


class AsyncSubscription:
    """Events, awaited."""

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription

    async def get(self, timeout: float | None = None) -> Event | None:
        """The next event; None when ``timeout`` seconds pass without one, or once closed."""
        return await asyncio.to_thread(self._subscription.get, timeout)

    async def __aiter__(self) -> AsyncIterator[Event]:
        while (event := await self.get()) is not None:
            yield event

    async def close(self) -> None:
        """Listen no longer."""
        await asyncio.to_thread(self._subscription.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()


def _work(command: Command[Any], token: str | None) -> Callable[[Transaction], Any]:
    handler = HANDLERS[type(command)]
    if token is None:
        return lambda tx: handler(tx, command)
    return lambda tx: _once(tx, command, token)


def _part(tx: Transaction, command: Command[Any]) -> Outcome:
    try:
        return Outcome(reply=tx.part(_work(command, None)))
    except StanchionError as error:
        return Outcome(error=error)


def _once(tx: Transaction, command: Command[Any], token: str) -> Any:
    """Run the command unless one with its token was answered before: then that answer is given again."""
    request = f"{command.name} {hashlib.sha256(msgspec.json.encode(command)).hexdigest()}"
    answered = tx.one("SELECT request, reply FROM tokens WHERE token = ?", token)
    if answered is None:
        reply = HANDLERS[type(command)](tx, command)
        tx.run(
            "INSERT INTO tokens VALUES (?, ?, ?, ?)",
            token,
            request,
            msgspec.json.encode(reply).decode(),
            tx.now,
        )
        return reply
    if answered[0] != request:
        raise TokenReused(token=token, earlier=answered[0].split()[0])
    return msgspec.json.decode(answered[1], type=reply_type(type(command)))


def _shift_leases(tx: Transaction, seconds: float) -> None:
    tx.run("UPDATE jobs SET expires = expires + ? WHERE state = 'running'", seconds)


def _teller(loop: asyncio.AbstractEventLoop, over: asyncio.Future[None]) -> Callable[[Request], None]:
    def done(request: Request) -> None:
        try:
            loop.call_soon_threadsafe(_set_over, over)
        except RuntimeError:
            request.error = request.error or StanchionError()  # the loop is closed: nobody waits any more

    return done


def _until(seconds: float) -> float:
    return max(0.0, seconds)


def _set_over(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)
