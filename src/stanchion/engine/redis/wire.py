"""The two who hold conversations with servers: one blocks, one awaits. Connections are redis-py's, with its own repeats off.

redis-py repeats a command whose answer was lost, which may have been done: only ``plan`` repeats, since it has tokens.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as TooLate
from redis.retry import Retry

from stanchion.engine.redis.faults import ANSWERS
from stanchion.engine.redis.plan import Command, Lost, Rest, Send, Talk, Turn
from stanchion.engine.redis.url import Address, Location

R = TypeVar("R")

CONNECT_SECONDS = 5.0
MOST = 100_000
"""Connections of one pool: as many as there are callers, since each that sleeps has one to itself. The server has the say."""

BROKEN = (Disconnected, TooLate, OSError, TimeoutError)

RawTalk = Generator[Sequence[Command], list[Any], R]
"""A conversation on one connection: commands are sent in one go, and their replies come back, errors among them."""


def options_of(location: Location, address: Address | None) -> dict[str, Any]:
    """What a connection is made with, but for its retries."""
    patience = min(CONNECT_SECONDS, location.timeout)
    options: dict[str, Any] = {
        "db": location.db,
        "username": location.username,
        "password": location.password,
        "protocol": 2,
        "socket_connect_timeout": patience,
        "socket_timeout": patience,  # of what redis-py says itself when it connects; replies have a patience of their own
        "retry_on_error": [],
        "retry_on_timeout": False,
        "health_check_interval": 0,
        "max_connections": MOST,
    }
    if location.path is not None:
        return {**options, "path": location.path}
    host, port = address or location.hosts[0]
    if location.tls:
        options |= {"ssl_ca_certs": location.ca, "ssl_certfile": location.cert, "ssl_keyfile": location.key}
    return {**options, "host": host, "port": port, "socket_keepalive": True}


class Wire:
    """Connections to the server of a location, for callers that block.

    Any number of threads may use one; a forked child makes its own.
    """

    def __init__(self, location: Location) -> None:
        self.location = location
        self._pool: redis.ConnectionPool | None = None
        self._seeds = 0

    def hold(self, talk: Talk[R]) -> R:
        """Hold a conversation to its end."""
        answer: Any = None
        try:
            while True:
                answer = self._do(talk.send(answer))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def hold_on_one(self, talk: RawTalk[R], patience: float) -> R:
        """Hold a conversation that needs one connection to itself."""
        with self.connection() as connection:
            answers: Any = None
            try:
                while True:
                    answers = _exchange(connection, talk.send(answers), patience)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """A connection for one caller alone. One that was left in the middle of something is not used again."""
        pool = self.pool()
        connection = pool.get_connection()
        try:
            yield connection
        except BaseException:
            connection.disconnect()
            raise
        finally:
            pool.release(connection)

    def pool(self) -> redis.ConnectionPool:
        """The connections to the present primary."""
        if self._pool is None:
            self._pool = self._new_pool(None)
        return self._pool

    def close(self) -> None:
        if self._pool is not None:
            self._pool.disconnect()

    def _do(self, act: Any) -> Any:
        if isinstance(act, Send):
            return self._send(act)
        if isinstance(act, Rest):
            return time.sleep(act.seconds)
        return self._turn(act)

    def _send(self, act: Send) -> Any:
        try:
            pool = self.pool()
        except BROKEN as problem:
            return Lost(False, str(problem))
        return self._send_to(pool, act.commands, act.patience)

    def _send_to(self, pool: redis.ConnectionPool, commands: Sequence[Command], patience: float) -> Any:
        try:
            connection = pool.get_connection()
        except ANSWERS as answer:
            return [answer] * len(commands)
        except (*BROKEN, RedisError) as problem:
            return Lost(False, str(problem))
        try:
            return _exchange(connection, commands, patience)
        except BROKEN as problem:
            connection.disconnect()
            return Lost(True, str(problem) or type(problem).__name__)
        except BaseException:
            connection.disconnect()
            raise
        finally:
            pool.release(connection)

    def _turn(self, act: Turn) -> None:
        address = act.address
        if address is None and self.location.kind == "cluster":
            self._seeds += 1
            address = self.location.hosts[self._seeds % len(self.location.hosts)]
        old, self._pool = self._pool, None if address is None else self._new_pool(address)
        if old is not None:
            old.disconnect(inuse_connections=False)

    def _primary(self) -> Address:
        sentinel = redis.Sentinel(
            self.location.hosts, sentinel_kwargs=_sentinel_options(self.location, Retry(NoBackoff(), 0))
        )
        host, port = sentinel.discover_master(self.location.service)
        return host, port

    def _new_pool(self, address: Address | None) -> redis.ConnectionPool:
        if address is None and self.location.kind == "sentinel":
            address = self._primary()
        kind: type[Any] = redis.Connection
        if self.location.path is not None:
            kind = redis.UnixDomainSocketConnection
        elif self.location.tls:
            kind = redis.SSLConnection
        return redis.ConnectionPool(connection_class=kind, retry=Retry(NoBackoff(), 0), **options_of(self.location, address))


def _exchange(connection: Any, commands: Sequence[Command], patience: float) -> list[Any]:
    connection.send_packed_command(connection.pack_commands(commands))
    return [_reply(connection, patience) for _ in commands]


def _reply(connection: Any, patience: float) -> Any:
    # Whoever gives up disconnects. redis-py would after an answer like NOAUTH or LOADING too, and the other answers be lost.
    try:
        return connection.read_response(timeout=patience, disconnect_on_error=False)
    except ANSWERS as answer:
        return answer


def _sentinel_options(location: Location, retry: Any) -> dict[str, Any]:
    return {"retry": retry, "socket_connect_timeout": CONNECT_SECONDS, "socket_timeout": CONNECT_SECONDS}


class AsyncWire:
    """As :class:`Wire`, for callers that await. A task that is canceled takes its connection with it."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self._pool: redis.asyncio.ConnectionPool | None = None
        self._seeds = 0

    async def hold(self, talk: Talk[R]) -> R:
        """Hold a conversation to its end."""
        answer: Any = None
        try:
            while True:
                answer = await self._do(talk.send(answer))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    async def hold_on_one(self, talk: RawTalk[R], patience: float) -> R:
        """Hold a conversation that needs one connection to itself."""
        pool = await self.pool()
        connection = await pool.get_connection()
        answers: Any = None
        try:
            while True:
                answers = await _exchange_async(connection, talk.send(answers), patience)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        except BaseException:
            await connection.disconnect(nowait=True)
            raise
        finally:
            await pool.release(connection)

    async def pool(self) -> redis.asyncio.ConnectionPool:
        """The connections to the present primary."""
        if self._pool is None:
            self._pool = await self._new_pool(None)
        return self._pool

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.disconnect()

    async def _do(self, act: Any) -> Any:
        if isinstance(act, Send):
            return await self._send(act)
        if isinstance(act, Rest):
            return await asyncio.sleep(act.seconds)
        return await self._turn(act)

    async def _send(self, act: Send) -> Any:
        try:
            pool = await self.pool()
        except BROKEN as problem:
            return Lost(False, str(problem))
        return await self._send_to(pool, act.commands, act.patience)

    async def _send_to(self, pool: redis.asyncio.ConnectionPool, commands: Sequence[Command], patience: float) -> Any:
        try:
            connection = await pool.get_connection()
        except ANSWERS as answer:
            return [answer] * len(commands)
        except (*BROKEN, RedisError) as problem:
            return Lost(False, str(problem))
        try:
            return await _exchange_async(connection, commands, patience)
        except BROKEN as problem:
            await connection.disconnect(nowait=True)
            return Lost(True, str(problem) or type(problem).__name__)
        except BaseException:
            await connection.disconnect(nowait=True)
            raise
        finally:
            await pool.release(connection)

    async def _turn(self, act: Turn) -> None:
        address = act.address
        if address is None and self.location.kind == "cluster":
            self._seeds += 1
            address = self.location.hosts[self._seeds % len(self.location.hosts)]
        old, self._pool = self._pool, None if address is None else await self._new_pool(address)
        if old is not None:
            await old.disconnect(inuse_connections=False)

    async def _primary(self) -> Address:
        options = _sentinel_options(self.location, AsyncRetry(NoBackoff(), 0))
        sentinel = redis.asyncio.Sentinel(list(self.location.hosts), sentinel_kwargs=options)
        try:
            host, port = await sentinel.discover_master(self.location.service)
        finally:
            for client in sentinel.sentinels:
                await client.aclose()
        return host, port

    async def _new_pool(self, address: Address | None) -> redis.asyncio.ConnectionPool:
        if address is None and self.location.kind == "sentinel":
            address = await self._primary()
        kind: type[Any] = redis.asyncio.Connection
        if self.location.path is not None:
            kind = redis.asyncio.UnixDomainSocketConnection
        elif self.location.tls:
            kind = redis.asyncio.SSLConnection
        return redis.asyncio.ConnectionPool(
            connection_class=kind, retry=AsyncRetry(NoBackoff(), 0), **options_of(self.location, address)
        )


async def _exchange_async(connection: Any, commands: Sequence[Command], patience: float) -> list[Any]:
    await connection.send_packed_command(connection.pack_commands(commands))
    return [await _reply_async(connection, patience) for _ in commands]


async def _reply_async(connection: Any, patience: float) -> Any:
    # With a timeout of its own, redis-py answers None when that is over, and keeps the connection: the reply would be another's.
    try:
        async with asyncio.timeout(patience):
            return await connection.read_response(timeout=patience + CONNECT_SECONDS, disconnect_on_error=False)
    except ANSWERS as answer:
        return answer
