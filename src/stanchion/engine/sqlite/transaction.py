"""What a handler sees of the database: one command's part of a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

R = TypeVar("R")


class Shared:
    """What the commands of one transaction share: the counter, things read once, and what is published at its end."""

    def __init__(self, connection: sqlite3.Connection, number: int = 0, listened: bool = False) -> None:
        self.connection = connection
        self.number = number
        self.listened = listened
        self.memo: dict[str, Any] = {}
        self.events: list[tuple[str, str]] = []
        self.woken: set[str] = set()


class Transaction:
    """One command's view. Its statements run in a savepoint: if the handler raises, all of them are undone."""

    __slots__ = ("_execute", "_shared", "events", "memo", "now", "woken")

    def __init__(self, shared: Shared, now: float) -> None:
        self._shared = shared
        self._execute = shared.connection.execute
        self.now = float(now)
        self.memo = shared.memo
        self.events: list[tuple[str, str]] = []
        self.woken: set[str] = set()

    def all(self, sql: str, *args: Any) -> list[tuple[Any, ...]]:
        """Every row. Bytes that are not UTF-8, as a damaged disk may have them, read as U+FFFD: so no row hides the others."""
        try:
            return self._execute(sql, args).fetchall()
        except sqlite3.OperationalError as error:
            return self._all_as_far_as_readable(error, sql, args)

    def each(self, sql: str, *args: Any) -> Iterator[tuple[Any, ...]]:
        """The rows, one by one; what they are read from must not be changed meanwhile."""
        given = 0
        try:
            for row in self._execute(sql, args):
                yield row
                given += 1
        except sqlite3.OperationalError as error:
            yield from self._all_as_far_as_readable(error, sql, args)[given:]

    def one(self, sql: str, *args: Any) -> tuple[Any, ...] | None:
        """The first row, or None."""
        return next(iter(self.all(sql, *args)), None)

    def named(self, sql: str, **args: Any) -> tuple[Any, ...]:
        """The one row of a statement with named parameters."""
        row: tuple[Any, ...] = self._execute(sql, args).fetchone()
        return row

    def value(self, sql: str, *args: Any) -> Any:
        """The first column of the first row, or None."""
        row = self.one(sql, *args)
        return None if row is None else row[0]

    def run(self, sql: str, *args: Any) -> int:
        """Change something; how many rows."""
        return self._execute(sql, args).rowcount

    def insert(self, sql: str, *args: Any) -> int:
        """Add a row; its rowid."""
        return self._execute(sql, args).lastrowid or 0

    def run_many(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Change something for each row of arguments."""
        self._shared.connection.executemany(sql, rows)

    def number(self) -> int:
        """A number greater than any that was given before, by any process."""
        self._shared.number += 1
        return self._shared.number

    @property
    def last_number(self) -> int:
        """The number given last, by any process."""
        return max(self._shared.number, int(self.value("SELECT number FROM engine")))

    def pass_number(self, number: int) -> None:
        """Give only numbers greater than this from now on."""
        self._shared.number = max(self._shared.number, number)

    @property
    def listened(self) -> bool:
        """Somebody listens to events: only then is it worth making them."""
        return self._shared.listened

    def emit(self, channel: str, message: str) -> None:
        """Publish an event to those who listen, if this command stands."""
        if self._shared.listened:
            self.events.append((channel, message))

    def wake(self, queue: str) -> None:
        """Wake who sleeps on the queue, once this command is committed: there may be something to pop."""
        self.woken.add(queue)

    def part(self, work: Callable[[Transaction], R]) -> R:
        """Run ``work`` as a part of its own: if it raises, what it changed and published is undone, and the rest stands."""
        published = len(self.events)
        self._execute("SAVEPOINT part")
        try:
            reply = work(self)
        except BaseException:
            del self.events[published:]
            self.memo.clear()  # it may hold what was read of a change that is undone now
            if self._shared.connection.in_transaction:  # else SQLite has undone all of it by itself
                self._execute("ROLLBACK TO part")
                self._execute("RELEASE part")
            raise
        self._execute("RELEASE part")
        return reply

    def _all_as_far_as_readable(self, error: sqlite3.Error, sql: str, args: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        if "UTF-8" not in str(error):
            raise error
        connection = self._shared.connection
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        try:
            return connection.execute(sql, args).fetchall()
        finally:
            connection.text_factory = str

    def keep(self) -> None:
        """The command stands: what it published goes out with the transaction."""
        self._shared.events += self.events
        self._shared.woken |= self.woken
