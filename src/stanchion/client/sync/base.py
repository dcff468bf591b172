# Generated from ../aio/base.py by tools/generate_sync.py: change that file, not this one.
"""What every part of the client has: the client's engine."""

from __future__ import annotations

from typing import Any, TypeVar

from stanchion.commands import Command
from stanchion.engine.contract import Engine

R = TypeVar("R")


class Part:
    """A part of the client: it turns calls into commands."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def _run(self, command: Command[R], now: float | None, **options: Any) -> R:
        return self._engine.run(command, now=now, **options)
