"""Events that reach every process: the server's channels. Some are lost while a connection is; nothing rests on them."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from typing import Any, Self

import redis
import redis.asyncio

from stanchion.engine.redis.wire import BROKEN, CONNECT_SECONDS, AsyncWire, Wire
from stanchion.records import Event

PAUSE = 0.2
"""Seconds before a lost connection is made anew."""

BOUND = 30.0
"""Seconds for which one look waits: so that closing is noticed."""


def _names(namespace: str, channels: Sequence[str]) -> tuple[list[str], list[str]]:
    """The server's channels and patterns for ours; ``*`` stands for all."""
    escaped = "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in namespace)
    patterns = [f"{escaped}*"] if "*" in channels else []
    return ([] if patterns else [f"{namespace}{channel}" for channel in channels]), patterns


def _event(message: Any, namespace: str) -> Event | None:
    if message is None or message["type"] not in ("message", "pmessage"):
        return None
    channel = message["channel"].decode("utf-8", "replace").removeprefix(namespace)
    return Event(channel, message["data"].decode("utf-8", "replace"))


def _answers(message: Any, mark: str) -> bool:
    return bool(message["type"] == "pong" and message["data"] == mark.encode())


class Subscription:
    """The events of some channels from when it was made, for one caller at a time."""

    def __init__(self, wire: Wire, namespace: str, channels: Sequence[str]) -> None:
        self._wire = wire
        self._namespace = namespace
        self._channels, self._patterns = _names(namespace, channels)
        self._pubsub: Any = None
        self._closed = False
        self._begin()

    def get(self, timeout: float | None = None) -> Event | None:
        """The next event; None when ``timeout`` seconds pass without one, or once it is closed."""
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        asked = None
        while not self._closed:
            late = time.monotonic() >= deadline
            message = self._look(CONNECT_SECONDS if asked else max(0.0, min(deadline - time.monotonic(), BOUND)))
            event = _event(message, self._namespace)
            if event is not None:
                return event
            if late and (asked or message is None):
                if asked and (message is None or _answers(message, asked)):
                    return None
                asked = asked or self._ask()
        return None

    def __iter__(self) -> Iterator[Event]:
        while (event := self.get()) is not None:
            yield event

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Listen no longer."""
        self._closed = True
        if self._pubsub is not None:
            self._pubsub.close()

    def _begin(self) -> None:
        client = redis.Redis(connection_pool=self._wire.pool())
        self._pubsub = client.pubsub()
        if self._channels:
            self._pubsub.subscribe(*self._channels)
        if self._patterns:
            self._pubsub.psubscribe(*self._patterns)
        for _ in (*self._channels, *self._patterns):
            self._pubsub.get_message(timeout=CONNECT_SECONDS)  # the server's word that it has begun

    def _ask(self) -> str:
        """Ask the server for a sign: what was published before comes before it."""
        mark = secrets.token_hex(4)
        with suppress(*BROKEN):
            self._pubsub.ping(mark)
        return mark

    def _look(self, seconds: float) -> Any:
        try:
            return self._pubsub.get_message(timeout=seconds)
        except BROKEN:
            if not self._closed:
                time.sleep(min(PAUSE, seconds))
                self._again()
            return None

    def _again(self) -> None:
        with suppress(*BROKEN):  # the next look tries again
            self._pubsub.close()
            self._begin()


class AsyncSubscription:
    """As :class:`Subscription`, awaited."""

    def __init__(self, wire: AsyncWire, namespace: str, channels: Sequence[str]) -> None:
        self._wire = wire
        self._namespace = namespace
        self._channels, self._patterns = _names(namespace, channels)
        self._pubsub: Any = None
        self._closed = False

    @classmethod
    async def open(cls, wire: AsyncWire, namespace: str, channels: Sequence[str]) -> AsyncSubscription:
        """One that has begun."""
        subscription = cls(wire, namespace, channels)
        await subscription._begin()
        return subscription

    async def get(self, timeout: float | None = None) -> Event | None:
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        asked = None
        while not self._closed:
            late = time.monotonic() >= deadline
            message = await self._look(CONNECT_SECONDS if asked else max(0.0, min(deadline - time.monotonic(), BOUND)))
            event = _event(message, self._namespace)
            if event is not None:
                return event
            if late and (asked or message is None):
                if asked and (message is None or _answers(message, asked)):
                    return None
                asked = asked or await self._ask()
        return None

    async def __aiter__(self) -> AsyncIterator[Event]:
        while (event := await self.get()) is not None:
            yield event

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def close(self) -> None:
        self._closed = True
        if self._pubsub is not None:
            await self._pubsub.aclose()

    async def _begin(self) -> None:
        client = redis.asyncio.Redis(connection_pool=await self._wire.pool())
        self._pubsub = client.pubsub()
        if self._channels:
            await self._pubsub.subscribe(*self._channels)
        if self._patterns:
            await self._pubsub.psubscribe(*self._patterns)
        for _ in (*self._channels, *self._patterns):
            await self._pubsub.get_message(timeout=CONNECT_SECONDS)

    async def _ask(self) -> str:
        mark = secrets.token_hex(4)
        with suppress(*BROKEN):
            await self._pubsub.ping(mark)
        return mark

    async def _look(self, seconds: float) -> Any:
        try:
            return await self._pubsub.get_message(timeout=seconds)
        except BROKEN:
            if not self._closed:
                await asyncio.sleep(min(PAUSE, seconds))
                await self._again()
            return None

    async def _again(self) -> None:
        with suppress(*BROKEN):
            await self._pubsub.aclose()
            await self._begin()
