"""The schema and its versions: additive migrations, each applied once, in one transaction."""

from __future__ import annotations

import sqlite3

from stanchion.engine.sqlite.tables import QUEUE_TABLES
from stanchion.errors import NewerSchema, NotAQueueFile, ReadOnlyStore

APPLICATION_ID = 0x5374616E  # "Stan": tells our files from other SQLite databases

_ENGINE_TABLES = """
CREATE TABLE engine (                           -- one row: the clock, and the counter behind every order
    id INTEGER PRIMARY KEY CHECK (id = 1),
    boot_id TEXT NOT NULL,
    monotonic REAL NOT NULL,
    now REAL NOT NULL,
    number INTEGER NOT NULL,
    identity TEXT NOT NULL                      -- of this database, for ever
) STRICT;
INSERT INTO engine VALUES (1, '', 0, 0, 0, lower(hex(randomblob(16))));

CREATE TABLE subscribers (id TEXT PRIMARY KEY, expires REAL NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, channel TEXT NOT NULL, message TEXT NOT NULL) STRICT;
"""

MIGRATIONS = (_ENGINE_TABLES + QUEUE_TABLES,)
"""Text by text, from an empty file to now. The schema's version is how many were applied (``PRAGMA user_version``)."""


def prepare(connection: sqlite3.Connection, path: str, writable: bool) -> None:
    """Bring the database to this program's schema, or say why it cannot be used."""
    if _version(connection, path) == len(MIGRATIONS):
        return
    if not writable:
        raise ReadOnlyStore(path=path, problem="its schema is older than this program's, and it was opened for reading")
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Asked again inside the transaction: another process may just have done it.
        for text in MIGRATIONS[_version(connection, path) :]:
            _run_each(connection, text)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, path: str) -> int:
    application, version, tables = connection.execute(
        "SELECT (SELECT application_id FROM pragma_application_id),"
        " (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)"
    ).fetchone()
    if tables and application != APPLICATION_ID:
        raise NotAQueueFile(path=path, problem="it is a SQLite database of another program")
    if version > len(MIGRATIONS):
        raise NewerSchema(path=path, found=version, known=len(MIGRATIONS))
    return int(version)


def _run_each(connection: sqlite3.Connection, text: str) -> None:
    # Not executescript: it commits what is open before it starts.
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
