"""One database, shared by every client of this process: commands that come together go into one transaction.

A reply is given only after COMMIT. Who runs the commands is ``leading``'s; here is what they run on: the connections, the clock,
checkpoints, and what happens when the disk is full or the file is gone.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, TypeVar

from stanchion.engine.sqlite import clock, files, subscription
from stanchion.engine.sqlite.connection import fault, open_connection
from stanchion.engine.sqlite.leading import TIMEOUT, Leadership
from stanchion.engine.sqlite.requests import Request
from stanchion.engine.sqlite.transaction import Shared, Transaction
from stanchion.engine.sqlite.turns import Turns
from stanchion.engine.sqlite.url import Location
from stanchion.engine.sqlite.wakeups import Bell, WakeFile
from stanchion.errors import (
    DiskFull,
    FileReplaced,
    OutcomeUnknown,
    ReadOnlyStore,
    StanchionError,
    StoreClosed,
)

R = TypeVar("R")

GATHER_SECONDS = 0.0003
"""How long a leader waits, at the most, for others to share its sync with: less than a sync takes.
Nothing is gained where commits do not sync."""

CHECKPOINT_COMMITS, CHECKPOINT_COMMANDS = 250, 2000
"""After so many of its commits or commands a process moves the log into the database: about 4 MB of log."""

BALLAST_RETRY = 5.0

_BEFORE = f"SELECT boot_id, monotonic, now, number, EXISTS ({subscription.LISTENING}) FROM engine"


class Store:
    """A database as this process has it open. Use :func:`stanchion.engine.sqlite.sharing.borrow` to get one."""

    def __init__(self, location: Location, shift_leases: Callable[[Transaction, float], None]) -> None:
        self.location = location
        self.identity: files.Identity | None = None
        self._shift_leases = shift_leases
        gather = GATHER_SECONDS if location.durability == "full" and not location.in_memory else 0.0
        self._leadership = Leadership(location.path, self._turn, self._run_batch, gather)
        self._closed = False
        self._readers: list[sqlite3.Connection] = []
        self._full = False
        self._ballast_tried = 0.0
        self._commits = self._commands = 0
        self.bell = Bell()
        self._open()

    def _open(self) -> None:
        location = self.location
        self._turns: Turns | None = None
        self._wake_file: WakeFile | None = None
        self._ballast: files.Ballast | None = None
        if location.in_memory or location.mode == "ro":
            if not location.in_memory:
                files.check(location)
            self._connection = open_connection(location, writable=location.in_memory)
        else:
            files.check(location)
            self._turns = Turns(location.path)
            self._wake_file = WakeFile(location.path, self.bell.ring)
            self._ballast = files.Ballast(location.path)
            # In a turn: two openers that both switch to WAL or create the tables would get in each other's way.
            with self._turns.turn(TIMEOUT):
                self._connection = open_connection(location, writable=True)
            self._ballast.fill()
        if not location.in_memory:
            self.identity = files.identity(location.path)

    # Running commands

    def run(
        self,
        work: Callable[[Transaction], R],
        *,
        now: float | None = None,
        timeout: float | None = None,
        grows: bool = False,
    ) -> R:
        """Run ``work`` in a savepoint of a shared transaction; its reply, once committed.

        ``grows`` says that it adds data: such work is refused while the disk is full, so that the rest can finish.
        """
        request = Request(work, now, grows)
        self._leadership.serve(request, timeout)
        return request.outcome()  # type: ignore[no-any-return]

    def run_awaited(
        self,
        work: Callable[[Transaction], Any],
        done: Callable[[Request], None],
        *,
        now: float | None,
        grows: bool,
    ) -> Request:
        """As ``run``, for callers that await: ``done`` is called with the request, from another thread, when it is over."""
        request = Request(work, now, grows, done)
        self._leadership.serve_awaited(request)
        return request

    def read(self, work: Callable[[Transaction], R], *, now: float | None = None) -> R:
        """Run ``work``, which changes nothing, on a connection for reading: no writer waits for it, nor it for them."""
        if self.location.in_memory:
            return self.run(work, now=now)
        with self._reader() as connection:
            try:
                connection.execute("BEGIN")
                try:
                    return work(Transaction(Shared(connection), self._now(connection, now).now))
                finally:
                    connection.execute("ROLLBACK")
            except sqlite3.Error as error:
                raise fault(error, self.location.path, "reading") from error

    def discard(self, request: Request) -> bool:
        """Take back a request that has not started; True if it will not run."""
        return self._leadership.discard(request)

    # Transactions

    def _turn(self, timeout: float) -> AbstractContextManager[None]:
        return self._turns.turn(timeout) if self._turns else nullcontext()

    def _run_batch(self, batch: list[Request]) -> None:
        self._check_file()
        try:
            shared = self._transaction(batch)
        except DiskFull:
            self._run_out()
            raise
        except sqlite3.Error as error:
            self._reopen()
            raise fault(error, self.location.path, "the command") from error
        self._checkpoint_sometimes(len(batch))
        self._publish(shared)

    def _transaction(self, batch: list[Request]) -> Shared:
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        try:
            stored = execute(_BEFORE, (time.time(),)).fetchone()
            shared = Shared(self._connection, stored[3], bool(stored[4]))
            now = self._tell(shared, batch, clock.Reading(*stored[:3]))
            if len(batch) == 1:
                self._run_alone(shared, batch[0], now)
                if batch[0].error is not None:
                    return shared
            else:
                for request in batch:
                    self._run_one(shared, request, now)
            if shared.number != stored[3]:
                execute("UPDATE engine SET number = ?", (shared.number,))
            subscription.publish(self._connection, shared.events)
        except BaseException:
            self._roll_back()
            raise
        self._commit()
        return shared

    def _tell(self, shared: Shared, batch: list[Request], stored: clock.Reading) -> float:
        if all(request.now is not None for request in batch):
            return stored.now  # the callers keep the time: ours stays as it is
        read = clock.read_clocks()
        told = clock.tell(stored, read)
        if told.shift:
            self._shift_leases(Transaction(shared, told.now), told.shift)
        if told.refresh:
            sql = "UPDATE engine SET boot_id = ?, monotonic = ?, now = ?"
            self._connection.execute(sql, (read.boot_id, read.monotonic, told.now))
        return told.now

    def _run_alone(self, shared: Shared, request: Request, now: float) -> None:
        """Run a request that has the transaction for itself. If it fails, all of that is rolled back."""
        if self._full and request.grows:
            raise DiskFull(path=self.location.path)
        transaction = Transaction(shared, now if request.now is None else request.now)
        try:
            request.reply = request.work(transaction)
            transaction.keep()
        except sqlite3.Error as error:
            raise fault(error, self.location.path, "the command") from error
        except BaseException as error:  # noqa: BLE001 - it is the caller's: it is raised there
            self._roll_back()
            request.error = error

    def _run_one(self, shared: Shared, request: Request, now: float) -> None:
        if self._full and request.grows:
            request.error = DiskFull(path=self.location.path)
            return
        execute = self._connection.execute
        transaction = Transaction(shared, now if request.now is None else request.now)
        execute("SAVEPOINT command")
        try:
            request.reply = request.work(transaction)
            execute("RELEASE command")
            transaction.keep()
        except sqlite3.Error as error:
            if not self._connection.in_transaction:
                raise  # SQLite has rolled all of it back: no command of this transaction stands
            self._undo(shared, request, fault(error, self.location.path, "the command"))
        except BaseException as error:  # noqa: BLE001 - it is the caller's: it is raised there
            self._undo(shared, request, error)

    def _undo(self, shared: Shared, request: Request, error: BaseException) -> None:
        self._connection.execute("ROLLBACK TO command")
        self._connection.execute("RELEASE command")
        shared.memo.clear()  # it may hold what was read of the change that is undone
        request.error = error
        if isinstance(error, DiskFull):
            self._run_out()

    def _commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            raised = fault(error, self.location.path, "the command", committing=True)
            if isinstance(raised, OutcomeUnknown):
                self._reopen()
            raise raised from error
        self._commits += 1
        self._regain()

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _publish(self, shared: Shared) -> None:
        if shared.woken or shared.events:
            self.bell.ring()
            if self._wake_file:
                self._wake_file.touch()

    def _now(self, connection: sqlite3.Connection, now: float | None) -> clock.Told:
        if now is not None:
            return clock.Told(now, 0.0, refresh=False)
        stored = connection.execute("SELECT boot_id, monotonic, now FROM engine").fetchone()
        return clock.tell(clock.Reading(*stored), clock.read_clocks())

    # The file

    def _check_file(self) -> None:
        if self.location.mode == "ro":
            raise ReadOnlyStore(path=self.location.path, problem="it was opened for reading (mode=ro)")
        if self.identity is not None and files.identity(self.location.path) != self.identity:
            raise FileReplaced(path=self.location.path)

    def _checkpoint_sometimes(self, commands: int) -> None:
        self._commands += commands
        if self._turns and (self._commits >= CHECKPOINT_COMMITS or self._commands >= CHECKPOINT_COMMANDS):
            self._commits = self._commands = 0
            # In our turn nobody writes, and nobody else checkpoints. A reader may keep part of the log in use: it stays
            # for the next time. Failing changes nothing either.
            with suppress(sqlite3.OperationalError):
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def _run_out(self) -> None:
        self._full = True
        if self._ballast:
            self._ballast.drop()

    def _regain(self) -> None:
        if self._full and time.monotonic() - self._ballast_tried > BALLAST_RETRY:
            self._ballast_tried = time.monotonic()
            self._full = not (self._ballast is None or self._ballast.fill())

    def _reopen(self) -> None:
        # After an I/O error nothing that the connection has cached can be trusted.
        if self.location.in_memory:
            return
        with suppress(sqlite3.Error):
            self._connection.close()
        with suppress(StanchionError):
            self._connection = open_connection(self.location, writable=True)

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        self._check_open()
        try:
            connection = self._readers.pop()
        except IndexError:
            connection = open_connection(self.location, writable=False)
        try:
            yield connection
        except StanchionError:
            self._put_back(connection)
            raise
        except BaseException:
            connection.close()
            raise
        self._put_back(connection)

    def _put_back(self, connection: sqlite3.Connection) -> None:
        self._readers.append(connection)
        if self._closed:
            self._close_readers()

    def _close_readers(self) -> None:
        # One at a time, since another thread may be putting its own back just now.
        with suppress(IndexError):
            while True:
                self._readers.pop().close()

    # Sleeping

    def ticket(self) -> int:
        """A mark of this moment, for ``sleep``. What any process commits from now on is heard."""
        if self._wake_file:
            self._wake_file.watch()
        return self.bell.rung

    def sleep(self, since: int, timeout: float) -> bool:
        """Sleep until some process committed a change that may give work after ``since``; False after ``timeout`` s."""
        return self.bell.sleep(since, timeout)

    def heard(self, tell: Callable[[], None]) -> AbstractContextManager[None]:
        """As ``sleep``, for callers that await: meanwhile ``tell`` is called, from some thread, at each such commit."""
        if self._wake_file:
            self._wake_file.watch()
        return self.bell.heard(tell)

    def subscribe(self, channels: Sequence[str]) -> subscription.Subscription:
        """Listen to the events of every process."""
        if self._wake_file:
            self._wake_file.watch()
        return subscription.Subscription(self, channels, self.bell)

    # Its end

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed(path=self.location.path)

    def close(self) -> None:
        """Finish what runs, and close every connection. Later calls raise StoreClosed."""
        if not self._leadership.close():
            return
        self._closed = True
        self._close_readers()
        self._connection.close()
        if self._wake_file:
            self._wake_file.close()
        if self._turns:
            self._turns.close()
        self.bell.ring()  # who sleeps finds it closed

    def abandon(self) -> None:
        """In a forked child: never touch it again. Whoever refers to it gets StoreClosed."""
        self._closed = True
        self._leadership.abandon()
