"""The distributed engine for callers that await."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Sequence
from typing import Any, Self, TypeVar

from stanchion.commands import Command
from stanchion.engine.checks import check_now
from stanchion.engine.contract import Diagnosis, Finding, Holdings, Outcome, StateDump
from stanchion.engine.redis import moving, repair
from stanchion.engine.redis.calls import call_of, next_call
from stanchion.engine.redis.diagnosis import diagnose
from stanchion.engine.redis.dump import state
from stanchion.engine.redis.engine import (
    ANY_TIME,
    CAPABILITIES,
    CHUNK,
    LONGEST_SLEEP,
    PATIENCE,
    SEEK,
    answer_of,
    as_ours,
    outcome_of,
    sleep_of,
)
from stanchion.engine.redis.plan import Request, Session, perform
from stanchion.engine.redis.subscription import AsyncSubscription
from stanchion.engine.redis.url import parse
from stanchion.engine.redis.wire import AsyncWire, RawTalk
from stanchion.engine.redis.work import question_of, request_of, requests_of

R = TypeVar("R")


class AsyncRedisEngine:
    """The engine on a Redis or Valkey server, awaited: as :class:`stanchion.engine.redis.engine.RedisEngine`, verb for verb."""

    def __init__(self, url: str) -> None:
        self.location = parse(url)
        self.url = url
        self.capabilities = CAPABILITIES
        self._session = Session(self.location)
        self._wire = AsyncWire(self.location)
        self._name = secrets.token_urlsafe(6)

    async def run(
        self, command: Command[R], *, now: float | None = None, token: str | None = None, timeout: float | None = None
    ) -> R:
        check_now(command.name, now)
        call = call_of(command)
        request = request_of(command, call, self.location, now, token)
        (outcome,) = await self._perform([request], timeout)
        return answer_of(call, outcome)  # type: ignore[no-any-return]

    async def run_many(
        self, commands: Sequence[Command[Any]], *, now: float | None = None, timeout: float | None = None
    ) -> list[Outcome]:
        check_now("run_many", now)
        outcomes: list[Outcome] = []
        for start in range(0, len(commands), CHUNK):
            calls, requests = requests_of(commands[start : start + CHUNK], self.location, now)
            found = await self._perform(requests, timeout)
            outcomes += [outcome_of(call, one) for call, one in zip(calls, found, strict=True)]
        return outcomes

    def ticket(self) -> object:
        return ANY_TIME

    async def wait(self, queues: Sequence[str], timeout: float, *, since: object = None) -> bool:
        deadline = time.monotonic() + timeout
        while True:
            left = deadline - time.monotonic()
            seconds = await self._seconds_until_work(tuple(queues), left)
            if seconds <= 0 or left <= 0:
                return seconds <= 0
            if await self._sleep(queues, min(seconds, left, LONGEST_SLEEP)):
                return True

    async def subscribe(self, channels: Sequence[str]) -> AsyncSubscription:
        with as_ours(self.location, "subscribe"):
            return await AsyncSubscription.open(self._wire, self.location.namespace, channels)

    async def dump(self, *, now: float | None = None) -> StateDump:
        check_now("dump", now)
        return await self._hold(state(self.location.namespace, now), "dump")

    async def check(self, *, fix: bool = False, now: float | None = None) -> list[Finding]:
        check_now("check", now)
        return await self._hold(repair.check(self.location.namespace, fix=fix, now=now), "check")

    async def diagnose(self) -> Diagnosis:
        return await self._hold(diagnose(self.location), "diagnose")

    async def holdings(self) -> Holdings:
        return await self._hold(moving.holdings(self.location.namespace), "holdings")

    async def load(self, part: Holdings, *, mark: str | None, anew: bool = False) -> None:
        await self._hold(moving.load(self.location.namespace, part, mark=mark, anew=anew), "load", changes=True)

    async def close(self) -> None:
        await self._wire.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def _hold(self, talk: RawTalk[R], what: str, *, changes: bool = False) -> R:
        if self.location.kind != "one":
            await self.run(SEEK)
        with as_ours(self.location, what, changes=changes):
            return await self._wire.hold_on_one(talk, PATIENCE)

    async def _perform(self, requests: Sequence[Request], timeout: float | None) -> list[Outcome]:
        limit = self.location.timeout if timeout is None else timeout
        return await self._wire.hold(perform(self._session, requests, limit))

    async def _seconds_until_work(self, queues: tuple[str, ...], patience: float) -> float:
        call = next_call(queues, self._sleeper(), patience)
        (outcome,) = await self._perform([question_of(call, self.location, "wait")], None)
        return float(answer_of(call, outcome))

    def _sleeper(self) -> str:
        return f"{self._name}-{id(asyncio.current_task())}"

    async def _sleep(self, queues: Sequence[str], seconds: float) -> bool:
        command = sleep_of(self.location.namespace, queues, seconds)
        outcome = (await self._perform([Request(command, "wait", False)], seconds + self.location.timeout))[0]
        return outcome.error is None and outcome.reply is not None
