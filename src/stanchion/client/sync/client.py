# Generated from ../aio/client.py by tools/generate_sync.py: change that file, not this one.
"""The client: everything that the queue can do, by nouns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, TypeVar

from stanchion import commands as c
from stanchion.client.sync.insight import Events, Failures, Tags, Workers
from stanchion.client.sync.jobs import Jobs, Tracked
from stanchion.client.sync.queues import Queues
from stanchion.client.sync.settings import Config, Recurring, Throttles
from stanchion.client.open import default_url, open_engine
from stanchion.commands import Command
from stanchion.engine.contract import Engine, Capabilities, Finding, Outcome, StateDump

R = TypeVar("R")


class Client:
    """A client of the queue system at a URL: ``sqlite:///jobs.db``, ``sqlite:////var/lib/app/jobs.db``, ``sqlite://``.

    Without a URL it is ``STANCHION_URL``, else a file in the user's data folder. Threads can share it.
    """

    def __init__(self, url: str | None = None) -> None:
        self._talk_to(open_engine(default_url() if url is None else url))

    @classmethod
    def on(cls, engine: Engine) -> Self:
        """A client of an engine that is open; closing the client closes it."""
        client = cls.__new__(cls)
        client._talk_to(engine)
        return client

    def _talk_to(self, engine: Engine) -> None:
        self._engine = engine
        self.queues = Queues(self._engine)
        self.jobs = Jobs(self._engine)
        self.failures = Failures(self._engine)
        self.tags = Tags(self._engine)
        self.tracked = Tracked(self._engine)
        self.workers = Workers(self._engine)
        self.config = Config(self._engine)
        self.throttles = Throttles(self._engine)
        self.recurring = Recurring(self._engine)
        self.events = Events(self._engine)

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

    def run(
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
        return self._engine.run(command, now=now, token=token, timeout=timeout)

    def run_many(
        self, commands: Sequence[Command[Any]], *, now: float | None = None, timeout: float | None = None
    ) -> list[Outcome]:
        """Run several commands in one round trip, each atomic by itself: what came of each, in order."""
        return self._engine.run_many(commands, now=now, timeout=timeout)

    def put_many(
        self, puts: Sequence[c.Put], *, now: float | None = None, token: str | None = None
    ) -> tuple[str, ...]:
        """Put jobs (see ``queue.new``) in one atomic change: all of them or none; their jids."""
        return self._engine.run(c.PutMany(tuple(puts)), now=now, token=token)

    def complete_many(
        self, completes: Sequence[c.Complete], *, now: float | None = None, token: str | None = None
    ) -> tuple[str, ...]:
        """Complete jobs in one atomic change: all of them or none; their new states."""
        return self._engine.run(c.CompleteMany(tuple(completes)), now=now, token=token)

    def ticket(self) -> object:
        """A mark of this moment, for ``wait``."""
        return self._engine.ticket()

    def wait(self, queues: Sequence[str], timeout: float, *, since: object = None) -> bool:
        """Sleep until one of the queues may have a job, or ``timeout`` seconds pass (False). Nothing is polled.

        Take a ticket, look for work, then wait ``since`` the ticket: so nothing that came in between is missed.
        """
        return self._engine.wait(queues, timeout, since=since)

    def dump(self, *, now: float | None = None) -> StateDump:
        """The whole state at one moment."""
        return self._engine.dump(now=now)

    def check(self, *, fix: bool = False, now: float | None = None) -> list[Finding]:
        """Everything that is wrong with the state; with ``fix``, mended as far as that can be done without a guess."""
        return self._engine.check(fix=fix, now=now)

    def close(self) -> None:
        """Let go of the queues."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
