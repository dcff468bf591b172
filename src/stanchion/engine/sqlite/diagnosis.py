"""What a database's file and SQLite are like, for ``stanchion doctor``."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from typing import Any

from stanchion.engine.contract import Advice, Diagnosis
from stanchion.engine.sqlite.connection import WAL_BYTES, warnings
from stanchion.engine.sqlite.schema import MIGRATIONS
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.engine.sqlite.url import Location

LEAST_FREE = 100_000_000
"""Bytes below which a disk is nearly full, whatever the size of the database."""

WASTED = 0.5
"""The part of the file that may be empty pages."""

_LATE_WAL = 4 * WAL_BYTES  # a log of which nothing was moved into the database for long


def diagnose(tx: Transaction, location: Location) -> Diagnosis:
    """The facts, and what follows from them."""
    facts: dict[str, Any] = {
        "SQLite": sqlite3.sqlite_version,
        "schema": f"{tx.value('PRAGMA user_version')} (this program's: {len(MIGRATIONS)})",
        "journal mode": tx.value("PRAGMA journal_mode"),
        "durability": location.durability,
    }
    pages, empty, size = (tx.value(f"PRAGMA {name}") for name in ("page_count", "freelist_count", "page_size"))
    facts |= {"pages": pages, "empty pages": empty}
    if not location.in_memory:
        facts |= {"path": location.path, **_sizes(location.path), "bytes free on the disk": _free(location.path)}
    notes = [Advice("sqlite-version", text, "upgrade SQLite when you can", wrong=False) for text in warnings()]
    return Diagnosis(facts, (*_problems(facts, pages * size, empty * size), *notes))


def _problems(facts: dict[str, Any], used: int, empty: int) -> Iterator[Advice]:
    if "path" not in facts:
        return
    if facts["journal mode"] != "wal":
        message = f"the journal mode is {facts['journal mode']}: readers and writers keep each other waiting"
        yield Advice("journal-mode", message, "stop every process, and let stanchion open the file alone")
    if facts["bytes free on the disk"] < max(LEAST_FREE, used // 10):
        message = f"only {facts['bytes free on the disk']:,} bytes are free on the disk"
        yield Advice("disk-nearly-full", message, "free space, or move the queue: stanchion migrate")
    if facts["bytes of the log"] > _LATE_WAL:
        message = "the write-ahead log is long: some process has been reading for long, and keeps all of it in use"
        yield Advice("long-log", message, "find what holds the file open (fuser), and end it")
    if empty > LEAST_FREE and empty > WASTED * used:
        yield Advice("empty-pages", f"{empty:,} of {used:,} bytes of the file are empty", "VACUUM it, stopped", wrong=False)


def _sizes(path: str) -> dict[str, int]:
    named = {"bytes of the file": "", "bytes of the log": "-wal", "bytes of the ballast": "-ballast"}
    return {name: _size(path + ending) for name, ending in named.items()}


def _size(path: str) -> int:
    return os.stat(path).st_size if os.path.exists(path) else 0


def _free(path: str) -> int:
    return shutil.disk_usage(os.path.dirname(path)).free
