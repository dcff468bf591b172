"""Opening SQLite connections: the pragmas, and which errors of SQLite mean what."""

from __future__ import annotations

import os
import sqlite3
from urllib.parse import quote

from stanchion.engine.sqlite import schema
from stanchion.engine.sqlite.url import Location
from stanchion.errors import (
    DiskFull,
    NotAQueueFile,
    OldSQLite,
    OutcomeUnknown,
    ReadOnlyStore,
    StanchionError,
    StoreBusy,
    StoreDamaged,
    StoreUnavailable,
)

NEEDED = (3, 37, 0)  # STRICT tables
BUSY_SECONDS = 5.0
"""How long SQLite waits for a lock that somebody holds without a turn, such as a person's sqlite3."""

WAL_BYTES = 64 * 1024 * 1024


def open_connection(location: Location, *, writable: bool) -> sqlite3.Connection:
    """A connection in autocommit mode: every BEGIN is ours. The caller keeps it to one thread at a time."""
    if sqlite3.sqlite_version_info < NEEDED:
        raise OldSQLite(url=location.url, found=sqlite3.sqlite_version, needed=".".join(map(str, NEEDED)))
    try:
        connection = sqlite3.connect(
            _name(location, writable),
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_SECONDS,
            cached_statements=512,
        )
        try:
            _set_up(connection, location, writable)
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise fault(error, location.path, "opening it") from error
    return connection


def warnings() -> list[str]:
    """What is not well with this SQLite, for people."""
    version = sqlite3.sqlite_version_info
    if version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51) or (3, 44, 6) <= version < (3, 45):
        return []
    return [
        f"SQLite {sqlite3.sqlite_version} has the WAL-reset race (fixed in 3.51.3, 3.50.7 and 3.44.6);"
        " only one process at a time checkpoints here, while nobody writes, which avoids it"
    ]


def fault(error: sqlite3.Error, path: str, command: str, *, committing: bool = False) -> StanchionError:
    """The error of ours that an error of SQLite means. While committing, an I/O error leaves the outcome unknown."""
    kind = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code of an extended one
    if kind == sqlite3.SQLITE_FULL:
        return DiskFull(path=path)
    if committing:
        return OutcomeUnknown(command=command, problem=str(error))
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(path=path, seconds=BUSY_SECONDS, holder=" (by a program that takes no turns)")
    return _KINDS.get(kind, StoreUnavailable)(path=path, problem=str(error))


_KINDS: dict[int, type[StanchionError]] = {
    sqlite3.SQLITE_NOTADB: NotAQueueFile,
    sqlite3.SQLITE_READONLY: ReadOnlyStore,
    sqlite3.SQLITE_CORRUPT: StoreDamaged,
}


def _name(location: Location, writable: bool) -> str:
    if location.in_memory:
        return "file::memory:"
    return f"file:{quote(location.path)}?mode={'rwc' if writable else 'ro'}"


def _set_up(connection: sqlite3.Connection, location: Location, writable: bool) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -16000")
    if not writable:
        schema.prepare(connection, location.path, writable=False)
        return
    if not location.in_memory:
        if os.path.getsize(location.path) == 0:
            connection.execute("PRAGMA page_size = 4096")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if location.durability == 'full' else 'NORMAL'}")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
        connection.execute("PRAGMA wal_autocheckpoint = 0")  # Store does it, in a turn
    schema.prepare(connection, location.path, writable=True)
