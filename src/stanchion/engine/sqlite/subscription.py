"""Events that reach every process: a table of the newest ones, written only while somebody listens."""

from __future__ import annotations

import sqlite3
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Protocol, Self

from stanchion.engine.sqlite.transaction import Transaction
from stanchion.engine.sqlite.wakeups import Bell
from stanchion.errors import StoreClosed
from stanchion.records import Event

LISTENING_SECONDS = 60.0
"""How long a listener that shows no more sign of life is taken for one."""

KEPT = 10_000
"""How many of the newest events are kept; who lags behind further misses some."""

PAGE = 500

LISTENING = "SELECT 1 FROM subscribers WHERE expires > ?"
"""Asks whether anybody listens now, in any process."""


class EventStore(Protocol):
    """What a subscription needs of the store."""

    def run(self, work: Callable[[Transaction], Any]) -> Any: ...
    def read(self, work: Callable[[Transaction], Any]) -> Any: ...


def publish(connection: sqlite3.Connection, events: Sequence[tuple[str, str]]) -> None:
    """Add events for the listeners; the oldest beyond KEPT go, now and then."""
    if not events:
        return
    connection.executemany("INSERT INTO events (channel, message) VALUES (?, ?)", events)
    newest = connection.execute("SELECT max(id) FROM events").fetchone()[0]
    if newest % 100 < len(events):
        connection.execute("DELETE FROM events WHERE id <= ?", (newest - KEPT,))


class Subscription:
    """The events of some channels from when it was made. Channel ``*`` stands for all."""

    def __init__(self, store: EventStore, channels: Sequence[str], bell: Bell) -> None:
        self._store = store
        self._channels = frozenset(channels)
        self._bell = bell
        self._id = uuid.uuid4().hex
        self._waiting: deque[Event] = deque()
        self._fetching = threading.Lock()
        self.closed = False
        self._renewed = 0.0
        self._last: int = store.run(self._begin)

    def get(self, timeout: float | None = None) -> Event | None:
        """The next event; None when ``timeout`` seconds pass without one, or once it or its engine is closed."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            rung = self._bell.rung  # before the look at ``closed``: closing rings
            if self.closed:
                return None
            self.fetch()
            event = self.take()
            if event is not None:
                return event
            left = LISTENING_SECONDS / 3 if deadline is None else deadline - time.monotonic()
            if left <= 0:
                return None
            if not self.closed:
                self._bell.sleep(rung, min(left, LISTENING_SECONDS / 3))

    def __iter__(self) -> Iterator[Event]:
        while (event := self.get()) is not None:
            yield event

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Listen no longer; a ``get`` that sleeps returns None."""
        if not self.closed:
            self.closed = True
            self._bell.ring()
            with suppress(StoreClosed):
                self._store.run(lambda tx: tx.run("DELETE FROM subscribers WHERE id = ?", self._id))

    def take(self) -> Event | None:
        """The next of the events that were fetched; None if there is none."""
        try:
            return self._waiting.popleft()
        except IndexError:
            return None

    def fetch(self) -> None:
        """Fetch what was published meanwhile, unless there is something to take already."""
        try:
            self._fetch()
        except StoreClosed:
            self.closed = True

    def _fetch(self) -> None:
        if time.monotonic() - self._renewed > LISTENING_SECONDS / 3:
            self._store.run(self._renew)
        with self._fetching:
            if self._waiting:
                return
            while self._fetch_page() == PAGE and not self._waiting:
                pass  # a whole page of channels that nobody here listens to

    def _fetch_page(self) -> int:
        sql = "SELECT id, channel, message FROM events WHERE id > ? ORDER BY id LIMIT ?"
        page = self._store.read(lambda tx: tx.all(sql, self._last, PAGE))
        for number, channel, message in page:
            self._last = number
            if channel in self._channels or "*" in self._channels:
                self._waiting.append(Event(channel, message))
        return len(page)

    def _begin(self, tx: Transaction) -> int:
        tx.run("DELETE FROM subscribers WHERE expires <= ?", time.time())
        self._renew(tx)
        return int(tx.value("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)"))

    def _renew(self, tx: Transaction) -> None:
        self._renewed = time.monotonic()
        sql = "INSERT INTO subscribers VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET expires = excluded.expires"
        tx.run(sql, self._id, time.time() + LISTENING_SECONDS)
