"""The model as an engine, so that the specification's tests hold it to what they hold every engine to."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Self

import msgspec

from stanchion import commands as c
from stanchion.engine.contract import Capabilities, StateDump
from stanchion.errors import TokenReused
from stanchion.records import Event
from tests.model.naive import Naive


class Listener:
    """What was published on some channels since it was made."""

    def __init__(self, channels: Sequence[str]) -> None:
        self._channels = channels
        self._waiting: deque[Event] = deque()

    def hear(self, channel: str, message: Any) -> None:
        if channel in self._channels or "*" in self._channels:
            text = message if isinstance(message, str) else msgspec.json.encode(message).decode()
            self._waiting.append(Event(channel, text))

    def get(self, timeout: float | None = None) -> Event | None:
        return self._waiting.popleft() if self._waiting else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None: ...


class ModelEngine:
    """As much of an engine as the specification's tests use."""

    url = "model://"
    capabilities = Capabilities(durable=False, exact_order=True, other_processes=False)

    def __init__(self) -> None:
        self._naive = Naive()
        self._listeners: list[Listener] = []
        self._answered: dict[str, tuple[c.Command[Any], Any]] = {}

    def run(self, command: c.Command[Any], *, now: float | None = None, token: str | None = None) -> Any:
        if token in self._answered:
            earlier, reply = self._answered[token]
            if earlier != command:
                raise TokenReused(token=token, earlier=earlier.name)
            return reply
        reply = self._naive.run(command, time.time() if now is None else now)
        for listener in self._listeners:
            for channel, message in self._naive.events:
                listener.hear(channel, message)
        if token is not None:
            self._answered[token] = command, reply
        return reply

    def dump(self, *, now: float | None = None) -> StateDump:
        return self._naive.dump(time.time() if now is None else now)

    def subscribe(self, channels: Sequence[str]) -> Listener:
        self._listeners.append(Listener(channels))
        return self._listeners[-1]

    def close(self) -> None: ...
