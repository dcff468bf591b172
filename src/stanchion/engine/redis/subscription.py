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
from redis.exceptions import RedisError

from stanchion.engine.redis.wire import BROKEN, CONNECT_SECONDS, AsyncWire, Wire
from stanchion.records import Event

PAUSE = 0.2
"""Seconds before a lost connection is made anew."""

OWN = "x:"
"""How channels begin on which nothing is told: permissions are tried on them."""

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
    if channel.startswith(OWN):
        return None
    return Event(channel, message["data"].decode("utf-8", "replace"))


class _Look:
    """One ``get``: how long to wait for the next message, and what a message means for it.

    When the time is over the server is asked for a sign, once: what was published before comes before it. So nothing that a
    command of this program has published already is overlooked.
    """

    def __init__(self, namespace: str, timeout: float | None) -> None:
        self._namespace = namespace
        self._deadline = float("inf") if timeout is None else time.monotonic() + timeout
        self.mark: str | None = None
        self.over = False

    def seconds(self) -> float:
        """How long to wait for the next message."""
        return CONNECT_SECONDS if self.mark else max(0.0, min(self._deadline - time.monotonic(), BOUND))

    def hear(self, message: Any) -> Event | None:
        """The event that a message is, if it is one."""
        event = _event(message, self._namespace)
        if event is None and self.mark:
            self.over = message is None or (message["type"] == "pong" and message["data"] == self.mark.encode())
        return event

    def must_ask(self, message: Any) -> bool:
        """Is the time over, and has the server not been asked yet? Then it is to be, with the mark."""
        if self.mark or message is not None or time.monotonic() < self._deadline:
            return False
        self.mark = secrets.token_hex(4)
        return True


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
        look = _Look(self._namespace, timeout)
        while not self._closed and not look.over:
            message = self._look(look.seconds())
            event = look.hear(message)
            if event is not None:
                return event
            if look.must_ask(message):
                self._ask(str(look.mark))
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
        self._lose()

    def _begin(self) -> None:
        pubsub = redis.Redis(connection_pool=self._wire.pool()).pubsub()
        try:
            if self._channels:
                pubsub.subscribe(*self._channels)
            if self._patterns:
                pubsub.psubscribe(*self._patterns)
            for _ in (*self._channels, *self._patterns):
                pubsub.get_message(timeout=CONNECT_SECONDS)  # the server's word that it has begun
        except BaseException:
            pubsub.close()
            raise
        self._pubsub = pubsub

    def _ask(self, mark: str) -> None:
        with suppress(*BROKEN, RedisError):
            if self._pubsub is not None:
                self._pubsub.ping(mark)

    def _look(self, seconds: float) -> Any:
        try:
            if self._pubsub is None:
                self._begin()
            return self._pubsub.get_message(timeout=seconds)
        except (*BROKEN, RedisError):
            self._lose()
            if not self._closed:
                time.sleep(min(PAUSE, seconds))
            return None

    def _lose(self) -> None:
        """The connection is lost: the next look makes another."""
        pubsub, self._pubsub = self._pubsub, None
        if pubsub is not None:
            with suppress(*BROKEN, RedisError):
                pubsub.close()


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
        look = _Look(self._namespace, timeout)
        while not self._closed and not look.over:
            message = await self._look(look.seconds())
            event = look.hear(message)
            if event is not None:
                return event
            if look.must_ask(message):
                await self._ask(str(look.mark))
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
        await self._lose()

    async def _begin(self) -> None:
        pubsub = redis.asyncio.Redis(connection_pool=await self._wire.pool()).pubsub()
        try:
            if self._channels:
                await pubsub.subscribe(*self._channels)
            if self._patterns:
                await pubsub.psubscribe(*self._patterns)
            for _ in (*self._channels, *self._patterns):
                await pubsub.get_message(timeout=CONNECT_SECONDS)  # the server's word that it has begun
        except BaseException:
            await pubsub.aclose()
            raise
        self._pubsub = pubsub

    async def _ask(self, mark: str) -> None:
        with suppress(*BROKEN, RedisError):
            if self._pubsub is not None:
                await self._pubsub.ping(mark)

    async def _look(self, seconds: float) -> Any:
        try:
            if self._pubsub is None:
                await self._begin()
            return await self._pubsub.get_message(timeout=seconds)
        except (*BROKEN, RedisError):
            await self._lose()
            if not self._closed:
                await asyncio.sleep(min(PAUSE, seconds))
            return None

    async def _lose(self) -> None:
        """The connection is lost: the next look makes another."""
        pubsub, self._pubsub = self._pubsub, None
        if pubsub is not None:
            with suppress(*BROKEN, RedisError):
                await pubsub.aclose()
