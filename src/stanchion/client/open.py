"""From a URL to an engine: the one place that knows them all."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from stanchion.engine.contract import AsyncEngine, Engine
from stanchion.errors import BadURL

REDIS = ("redis", "rediss", "valkey", "valkeys", "unix")
"""Schemes of the distributed engine; with ``+sentinel`` or ``+cluster`` behind them, too."""


def default_url() -> str:
    """``STANCHION_URL``, else a file in the user's data folder, which is made if it is not there."""
    return os.environ.get("STANCHION_URL") or f"sqlite:///{quote(str(_data_folder() / 'queue.db'))}"


def open_engine(url: str) -> Engine:
    """The engine at a URL, for callers that block."""
    if _is_distributed(url):
        from stanchion.engine.redis.engine import RedisEngine

        return RedisEngine(url)
    from stanchion.engine.sqlite.engine import SQLiteEngine

    return SQLiteEngine(url)


def open_async_engine(url: str) -> AsyncEngine:
    """The engine at a URL, for callers that await."""
    if _is_distributed(url):
        from stanchion.engine.redis.aio import AsyncRedisEngine

        return AsyncRedisEngine(url)
    from stanchion.engine.sqlite.aio import AsyncSQLiteEngine

    return AsyncSQLiteEngine(url)


def _is_distributed(url: str) -> bool:
    """Is the URL one of the engine for Redis and Valkey, rather than of the embedded one? BadURL if it is neither's."""
    if not isinstance(url, str):
        raise BadURL(url=repr(url), problem=f"a URL is a text, not of the type {type(url).__name__}")
    scheme = url.partition(":")[0] if ":" in url else ""
    if scheme == "sqlite":
        return False
    if scheme.split("+")[0] not in REDIS:
        problem = f"there is no engine for {scheme or 'it'}; write sqlite:///path/to/jobs.db or redis://host:6379/0"
        raise BadURL(url=url, problem=problem)
    if find_spec("redis") is None:
        raise BadURL(url=url, problem="the engine for Redis and Valkey needs redis-py: pip install 'stanchion[redis]'")
    return True


def _data_folder() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    folder = Path(base).absolute() / "stanchion"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
