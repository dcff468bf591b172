"""Events that reach every process: the server's channels. Some are lost while a connection is; nothing rests on them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
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
        while not self._closed:
            left = max(0.0, min(deadline - time.monotonic(), BOUND))
            message = self._look(left)
            event = _event(message, self._namespace)
            if event is not None:
                return event
            if message is None and time.monotonic() >= deadline:
                return None
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

    def _look(self, seconds: float) -> Any:
        try:
            return self._pubsub.get_message(timeout=seconds)
        except BROKEN:
            if not self._closed:
                time.sleep(min(PAUSE, seconds))
                self._again()
            return None

    def _again(self) -> None:
        try:
            self._pubsub.close()
            self._begin()
        except BROKEN:
            pass  # the next look tries again


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
        while not self._closed:
            left = max(0.0, min(deadline - time.monotonic(), BOUND))
            message = await self._look(left)
            event = _event(message, self._namespace)
            if event is not None:
                return event
            if message is None and time.monotonic() >= deadline:
                return None
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

    async def _look(self, seconds: float) -> Any:
        try:
            return await self._pubsub.get_message(timeout=seconds)
        except BROKEN:
            if not self._closed:
                await asyncio.sleep(min(PAUSE, seconds))
                await self._again()
            return None

    async def _again(self) -> None:
        try:
            await self._pubsub.aclose()
            await self._begin()
        except BROKEN:
            pass
