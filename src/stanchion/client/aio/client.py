"""The client: everything that the queue can do, by nouns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, TypeVar

from stanchion import commands as c
from stanchion.client.aio.insight import AsyncEvents, AsyncFailures, AsyncTags, AsyncWorkers
from stanchion.client.aio.jobs import AsyncJobs, AsyncTracked
from stanchion.client.aio.queues import AsyncQueues
from stanchion.client.aio.settings import AsyncConfig, AsyncRecurring, AsyncThrottles
from stanchion.client.open import default_url, open_async_engine
from stanchion.commands import Command
from stanchion.engine.contract import AsyncEngine, Capabilities, Finding, Outcome, StateDump

R = TypeVar("R")


class AsyncClient:
    """A client of the queue system at a URL: ``sqlite:///jobs.db``, ``sqlite:////var/lib/app/jobs.db``, ``sqlite://``.

    Without a URL it is ``STANCHION_URL``, else a file in the user's data folder. It can be shared by tasks and threads.
    """

    def __init__(self, url: str | None = None) -> None:
        self._talk_to(open_async_engine(default_url() if url is None else url))

    @classmethod
    def on(cls, engine: AsyncEngine) -> Self:
        """A client of an engine that is open; closing the client closes it."""
        client = cls.__new__(cls)
        client._talk_to(engine)
        return client

    def _talk_to(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self.queues = AsyncQueues(self._engine)
        self.jobs = AsyncJobs(self._engine)
        self.failures = AsyncFailures(self._engine)
        self.tags = AsyncTags(self._engine)
        self.tracked = AsyncTracked(self._engine)
        self.workers = AsyncWorkers(self._engine)
        self.config = AsyncConfig(self._engine)
        self.throttles = AsyncThrottles(self._engine)
        self.recurring = AsyncRecurring(self._engine)
        self.events = AsyncEvents(self._engine)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.url}>"

    @property
    def url(self) -> str:
        """Where the queues are."""
        return self._engine.url

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can promise."""
        return self._engine.capabilities

    async def run(
        self,
        command: Command[R],
        *,
        now: float | None = None,
        token: str | None = None,
        timeout: float | None = None,
    ) -> R:
        """Run any command of the vocabulary and return its reply.

        With a ``token`` of your own it can be repeated after Retryable or OutcomeUnknown: the second run does nothing more
        and answers as the first did.
        """
        return await self._engine.run(command, now=now, token=token, timeout=timeout)

    async def run_many(
        self, commands: Sequence[Command[Any]], *, now: float | None = None, timeout: float | None = None
    ) -> list[Outcome]:
        """Run several commands in one round trip, each atomic by itself: what came of each, in order."""
        return await self._engine.run_many(commands, now=now, timeout=timeout)

    async def put_many(
        self, puts: Sequence[c.Put], *, now: float | None = None, token: str | None = None
    ) -> tuple[str, ...]:
        """Put jobs (see ``queue.new``) in one atomic change: all of them or none; their jids."""
        return await self._engine.run(c.PutMany(tuple(puts)), now=now, token=token)

    async def complete_many(
        self, completes: Sequence[c.Complete], *, now: float | None = None, token: str | None = None
    ) -> tuple[str, ...]:
        """Complete jobs in one atomic change: all of them or none; their new states."""
        return await self._engine.run(c.CompleteMany(tuple(completes)), now=now, token=token)

    def ticket(self) -> object:
        """A mark of this moment, for ``wait``."""
        return self._engine.ticket()

    async def wait(self, queues: Sequence[str], timeout: float, *, since: object = None) -> bool:
        """Sleep until one of the queues may have a job, or ``timeout`` seconds pass (False). Nothing is polled.

        Take a ticket, look for work, then wait ``since`` the ticket: so nothing that came in between is missed.
        """
        return await self._engine.wait(queues, timeout, since=since)

    async def dump(self, *, now: float | None = None) -> StateDump:
        """The whole state at one moment."""
        return await self._engine.dump(now=now)

    async def check(self, *, fix: bool = False, now: float | None = None) -> list[Finding]:
        """Everything that is wrong with the state; with ``fix``, mended as far as that can be done without a guess."""
        return await self._engine.check(fix=fix, now=now)

    async def close(self) -> None:
        """Let go of the queues."""
        await self._engine.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()
