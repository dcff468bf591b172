"""What every part of the client has: the client's engine."""

from __future__ import annotations

from typing import Any, TypeVar

from stanchion.commands import Command
from stanchion.engine.contract import AsyncEngine

R = TypeVar("R")


class AsyncPart:
    """A part of the client: it turns calls into commands."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def _run(self, command: Command[R], now: float | None, **options: Any) -> R:
        return await self._engine.run(command, now=now, **options)
