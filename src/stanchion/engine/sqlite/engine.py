"""The embedded engine for callers that block: every command is a piece of work for the store of its file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Self, TypeVar

from stanchion.commands import Command
from stanchion.engine.checks import check_now
from stanchion.engine.contract import AS_KEPT, Capabilities, Diagnosis, Finding, Holdings, Outcome, StateDump
from stanchion.engine.sqlite import moving
from stanchion.engine.sqlite import url as urls
from stanchion.engine.sqlite.diagnosis import diagnose
from stanchion.engine.sqlite.dump import dump
from stanchion.engine.sqlite.handlers.next_time import seconds_until_work
from stanchion.engine.sqlite.inspection import inspect
from stanchion.engine.sqlite.repair import can_mend, mend
from stanchion.engine.sqlite.sharing import SharedStore
from stanchion.engine.sqlite.subscription import Subscription
from stanchion.engine.sqlite.work import chunks, grows, shift_leases, work_of, work_of_many
from stanchion.errors import StanchionError

R = TypeVar("R")

LONGEST_SLEEP = 60.0
"""Seconds after which a sleeper looks again by itself: a wake-up is only a hint, and the engine's clock may be set."""


class SQLiteEngine:
    """The engine on a SQLite file, or in memory. Any number of threads may use one."""

    def __init__(self, url: str) -> None:
        self.url = url
        location = urls.parse(url)
        self.shared = SharedStore(location, shift_leases)
        self.capabilities = Capabilities(
            durable=not location.in_memory, exact_order=True, other_processes=not location.in_memory
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
        check_now(command.name, now)
        store, work = self.shared.get(), work_of(command, token)
        if command.reads:
            return store.read(work, now=now)  # type: ignore[no-any-return]
        return store.run(work, now=now, timeout=timeout, grows=grows(command))  # type: ignore[no-any-return]

    def run_many(
        self, commands: Sequence[Command[Any]], *, now: float | None = None, timeout: float | None = None
    ) -> list[Outcome]:
        """Run several commands, each atomic by itself, in few transactions.

        An error that concerns them all is raised if none has run yet; later it is the outcome of each that did not run.
        """
        check_now("run_many", now)
        store = self.shared.get()
        outcomes: list[Outcome] = []
        for chunk in chunks(commands):
            try:
                outcomes += store.run(work_of_many(chunk), now=now, timeout=timeout, grows=grows(*chunk))
            except StanchionError as error:
                if not outcomes:
                    raise
                return outcomes + [Outcome(error=error)] * (len(commands) - len(outcomes))
        return outcomes

    def ticket(self) -> object:
        """A mark of this moment for ``wait``."""
        return self.shared.get().ticket()

    def wait(self, queues: Sequence[str], timeout: float, *, since: object = None) -> bool:
        """Sleep until one of the queues may have something to pop: after a commit that gives it something, or when a time comes.

        What counts is what is in the queues: so ``since`` is not needed here, and a commit for another queue wakes nobody.
        """
        store, deadline = self.shared.get(), time.monotonic() + timeout
        while True:
            rung = store.ticket()
            seconds = store.read(lambda tx: seconds_until_work(tx, queues))
            left = deadline - time.monotonic()
            if seconds <= 0 or left <= 0:
                return seconds <= 0
            store.sleep(rung, min(seconds, left, LONGEST_SLEEP))

    def subscribe(self, channels: Sequence[str]) -> Subscription:
        """Listen to channels, from every process."""
        return self.shared.get().subscribe(channels)

    def dump(self, *, now: float | None = None) -> StateDump:
        """The whole state at one moment."""
        check_now("dump", now)
        return self.shared.get().read(dump, now=now)

    def check(self, *, fix: bool = False, now: float | None = None) -> list[Finding]:
        """Everything that is wrong with the state; with ``fix``, mended as far as that can be done without a guess."""
        check_now("check", now)
        store = self.shared.get()
        found = store.read(inspect, now=now)
        return store.run(mend, now=now) if fix and can_mend(found) else found

    def diagnose(self) -> Diagnosis:
        """What the file and SQLite are like."""
        store = self.shared.get()
        return store.read(lambda tx: diagnose(tx, store.location))

    def holdings(self) -> Holdings:
        """All that the database holds, for moving house."""
        return self.shared.get().read(moving.holdings, now=AS_KEPT)

    def load(self, part: Holdings, *, mark: str | None, anew: bool = False) -> None:
        """Add a part of what another database holds, in one transaction with the mark."""
        self.shared.get().run(lambda tx: moving.load(tx, part, mark, anew), grows=True)

    def close(self) -> None:
        """Let go of the file. Other clients of this process keep it."""
        self.shared.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
