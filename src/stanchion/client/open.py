"""From a URL to an engine: the one place that knows them all."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote, urlsplit

from stanchion.engine.contract import AsyncEngine, Engine
from stanchion.errors import BadURL

REDIS = ("redis", "rediss", "valkey", "valkeys")


def default_url() -> str:
    """``STANCHION_URL``, else a file in the user's data folder, which is made if it is not there."""
    return os.environ.get("STANCHION_URL") or f"sqlite:///{quote(str(_data_folder() / 'queue.db'))}"


def open_engine(url: str) -> Engine:
    """The engine at a URL, for callers that block."""
    _check_scheme(url)
    from stanchion.engine.sqlite.engine import SQLiteEngine

    return SQLiteEngine(url)


def open_async_engine(url: str) -> AsyncEngine:
    """The engine at a URL, for callers that await."""
    _check_scheme(url)
    from stanchion.engine.sqlite.aio import AsyncSQLiteEngine

    return AsyncSQLiteEngine(url)


def _check_scheme(url: str) -> None:
    scheme = urlsplit(url).scheme
    if scheme in REDIS:
        problem = (
            "the engine for Redis and Valkey is not part of this version yet; until then write sqlite:///path/to/jobs.db"
        )
        raise BadURL(url=url, problem=problem)
    if scheme != "sqlite":
        raise BadURL(url=url, problem=f"there is no engine for {scheme or 'it'}; write sqlite:///path/to/jobs.db")


def _data_folder() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    folder = Path(base).absolute() / "stanchion"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
