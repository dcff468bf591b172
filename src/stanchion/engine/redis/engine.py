"""The distributed engine for callers that block: every command is a call of a function on the server."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeVar

from redis.exceptions import RedisError

from stanchion.commands import Command, GetConfig
from stanchion.engine.checks import check_now
from stanchion.engine.contract import MARK, Capabilities, Diagnosis, Finding, Holdings, Outcome, StateDump
from stanchion.engine.redis import moving, repair
from stanchion.engine.redis.calls import Call, call_of, next_call
from stanchion.engine.redis.diagnosis import diagnose
from stanchion.engine.redis.dump import state
from stanchion.engine.redis.faults import ANSWERS, fault_of
from stanchion.engine.redis.plan import Request, Session, perform
from stanchion.engine.redis.subscription import Subscription
from stanchion.engine.redis.url import Location, parse
from stanchion.engine.redis.wire import BROKEN, RawTalk, Wire
from stanchion.engine.redis.work import question_of, request_of, requests_of
from stanchion.errors import OutcomeUnknown, StoreUnavailable

R = TypeVar("R")

LONGEST_SLEEP = 5.0
"""Seconds after which a sleeper looks again by itself: a marker can be lost with the sleeper who took it."""

CHUNK = 500
"""The most commands of one ``run_many`` that are sent in one go."""

PATIENCE = 60.0
"""Seconds for each reply while the whole state is read."""

SEEK = GetConfig(MARK)
"""A command that any conversation of our own is preceded by where the node that has the keys must be found first."""

ANY_TIME = object()
"""What every ticket is."""

CAPABILITIES = Capabilities(durable=True, exact_order=False, other_processes=True)


class RedisEngine:
    """The engine on a Redis or Valkey server. Any number of threads may use one."""

    def __init__(self, url: str) -> None:
        self.location = parse(url)
        self.url = url
        self.capabilities = CAPABILITIES
        self._session = Session(self.location)
        self._wire = Wire(self.location)
        self._name = secrets.token_urlsafe(6)

    def run(
        self, command: Command[R], *, now: float | None = None, token: str | None = None, timeout: float | None = None
    ) -> R:
        """Run one command: see :class:`stanchion.engine.contract.Engine`."""
        check_now(command.name, now)
        call = call_of(command)
        request = request_of(command, call, self.location, now, token)
        (outcome,) = self._perform([request], timeout)
        return answer_of(call, outcome)  # type: ignore[no-any-return]

    def run_many(
        self, commands: Sequence[Command[Any]], *, now: float | None = None, timeout: float | None = None
    ) -> list[Outcome]:
        """Run several commands in order in few round trips, each atomic by itself."""
        check_now("run_many", now)
        outcomes: list[Outcome] = []
        for start in range(0, len(commands), CHUNK):
            calls, requests = requests_of(commands[start : start + CHUNK], self.location, now)
            found = self._perform(requests, timeout)
            outcomes += [outcome_of(call, one) for call, one in zip(calls, found, strict=True)]
        return outcomes

    def ticket(self) -> object:
        """A mark of this moment for ``wait``: what is in the queues counts, so there is nothing to remember."""
        return ANY_TIME

    def wait(self, queues: Sequence[str], timeout: float, *, since: object = None) -> bool:
        """Sleep until one of the queues may have something to pop: until a put's marker comes, or a time."""
        deadline = time.monotonic() + timeout
        while True:
            left = deadline - time.monotonic()
            seconds = self._seconds_until_work(tuple(queues), left)
            if seconds <= 0 or left <= 0:
                return seconds <= 0
            if self._sleep(queues, min(seconds, left, LONGEST_SLEEP)):
                return True

    def subscribe(self, channels: Sequence[str]) -> Subscription:
        """Listen to channels, from every process."""
        with as_ours(self.location, "subscribe"):
            return Subscription(self._wire, self.location.namespace, channels)

    def dump(self, *, now: float | None = None) -> StateDump:
        """The whole state; of one moment only if nobody changes it meanwhile."""
        check_now("dump", now)
        return self._hold(state(self.location.namespace, now), "dump")

    def check(self, *, fix: bool = False, now: float | None = None) -> list[Finding]:
        """Everything that is wrong with the state; with ``fix``, mended as far as that can be done without a guess."""
        check_now("check", now)
        return self._hold(repair.check(self.location.namespace, fix=fix, now=now), "check")

    def diagnose(self) -> Diagnosis:
        """What the server is like."""
        return self._hold(diagnose(self.location), "diagnose")

    def holdings(self) -> Holdings:
        """All that the database holds, for moving house."""
        return self._hold(moving.holdings(self.location.namespace), "holdings")

    def load(self, part: Holdings, *, mark: str | None, anew: bool = False) -> None:
        """Add a part of what another database holds: see :class:`stanchion.engine.contract.Engine`."""
        self._hold(moving.load(self.location.namespace, part, mark=mark, anew=anew), "load", changes=True)

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _hold(self, talk: RawTalk[R], what: str, *, changes: bool = False) -> R:
        if self.location.kind != "one":
            self.run(SEEK)
        with as_ours(self.location, what, changes=changes):
            return self._wire.hold_on_one(talk, PATIENCE)

    def _perform(self, requests: Sequence[Request], timeout: float | None) -> list[Outcome]:
        limit = self.location.timeout if timeout is None else timeout
        return self._wire.hold(perform(self._session, requests, limit))

    def _seconds_until_work(self, queues: tuple[str, ...], patience: float) -> float:
        call = next_call(queues, self._sleeper(), patience)
        (outcome,) = self._perform([question_of(call, self.location, "wait")], None)
        return float(answer_of(call, outcome))

    def _sleeper(self) -> str:
        return f"{self._name}-{threading.get_ident()}"

    def _sleep(self, queues: Sequence[str], seconds: float) -> bool:
        command = sleep_of(self.location.namespace, queues, seconds)
        outcome = self._perform([Request(command, "wait", False)], seconds + self.location.timeout)[0]
        return outcome.error is None and outcome.reply is not None


@contextmanager
def as_ours(location: Location, what: str, *, changes: bool = False) -> Iterator[None]:
    """Raise what a server or a connection says in a conversation as errors of ours."""
    try:
        yield
    except ANSWERS as answer:
        raise fault_of(answer, location.shown, what).error from answer
    except (*BROKEN, RedisError) as problem:
        told = str(problem).rstrip(".")
        if changes:
            raise OutcomeUnknown(command=what, problem=told) from problem
        raise StoreUnavailable(path=location.shown, problem=told) from problem


def answer_of(call: Call, outcome: Outcome) -> Any:
    """What a call's raw reply means, or its error raised."""
    if outcome.error is not None:
        raise outcome.error
    return call.decode(outcome.reply)


def outcome_of(call: Call, outcome: Outcome) -> Outcome:
    """An outcome with its reply decoded."""
    return outcome if outcome.error is not None else Outcome(reply=call.decode(outcome.reply))


def sleep_of(namespace: str, queues: Sequence[str], seconds: float) -> tuple[str | float, ...]:
    """The command that sleeps until one of the queues has a marker."""
    return ("BLPOP", *(f"{namespace}x:wake:{queue}" for queue in queues), max(0.001, round(seconds, 3)))
