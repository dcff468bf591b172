"""An engine whose every command runs at the time of a clock, and which remembers what was put."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from stanchion.commands import Command, Put, PutMany
from stanchion.engine.contract import Capabilities, Diagnosis, Engine, Finding, Holdings, Outcome, StateDump, Subscription
from stanchion.testing.clock import Clock

R = TypeVar("R")


class ClockedEngine:
    """Another engine, at the time of a clock. After each put, ``when_put`` is called with it."""

    def __init__(self, engine: Engine, clock: Clock, when_put: Callable[[Put], None]) -> None:
        self._engine = engine
        self._clock = clock
        self._when_put = when_put
        self.url = engine.url
        self.capabilities: Capabilities = engine.capabilities

    def run(
        self, command: Command[R], *, now: float | None = None, token: str | None = None, timeout: float | None = None
    ) -> R:
        reply = self._engine.run(command, now=self._at(now), token=token, timeout=timeout)
        self._tell(command)
        return reply

    def run_many(
        self, commands: Sequence[Command[Any]], *, now: float | None = None, timeout: float | None = None
    ) -> list[Outcome]:
        outcomes = self._engine.run_many(commands, now=self._at(now), timeout=timeout)
        for command, outcome in zip(commands, outcomes, strict=True):
            if outcome.error is None:
                self._tell(command)
        return outcomes

    def dump(self, *, now: float | None = None) -> StateDump:
        return self._engine.dump(now=self._at(now))

    def check(self, *, fix: bool = False, now: float | None = None) -> list[Finding]:
        return self._engine.check(fix=fix, now=self._at(now))

    def ticket(self) -> object:
        return self._engine.ticket()

    def wait(self, queues: Sequence[str], timeout: float, *, since: object = None) -> bool:
        return self._engine.wait(queues, timeout, since=since)

    def subscribe(self, channels: Sequence[str]) -> Subscription:
        return self._engine.subscribe(channels)

    def diagnose(self) -> Diagnosis:
        return self._engine.diagnose()

    def holdings(self) -> Holdings:
        return self._engine.holdings()

    def load(self, part: Holdings, *, mark: str | None, anew: bool = False) -> None:
        self._engine.load(part, mark=mark, anew=anew)

    def close(self) -> None:
        self._engine.close()

    def _at(self, now: float | None) -> float:
        return self._clock.now if now is None else now

    def _tell(self, command: Command[Any]) -> None:
        for put in _puts_of(command):
            self._when_put(put)


def _puts_of(command: Command[Any]) -> Iterator[Put]:
    if isinstance(command, Put):
        yield command
    elif isinstance(command, PutMany):
        yield from command.puts
