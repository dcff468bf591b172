"""``client.events``: what happens to tracked jobs, as it happens."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from stanchion.compat.qless.calls import Caller
from stanchion.engine.contract import Subscription

logger = logging.getLogger("stanchion.compat.qless")

NAMESPACE = "ql:"

LOOK = 0.25
"""Seconds after which one who listens looks if it is to stop: a subscription is its listener's alone."""


class Listener:
    """The messages of some channels, named as Redis has them: ``ql:completed``, ``ql:w:<worker>``, ``ql:log``."""

    def __init__(self, client: Caller, channels: Sequence[str]) -> None:
        self._client = client
        self._channels = [channel.removeprefix(NAMESPACE) for channel in channels]
        self._subscription: Subscription | None = None
        self._unlistened = threading.Event()

    def listen(self) -> Iterator[dict[str, Any]]:
        """Messages as they come, until ``unlisten``: dictionaries with type, pattern, channel and data."""
        with self._subscribed() as subscription:
            while not self._unlistened.is_set():
                event = subscription.get(LOOK)
                if event is not None:
                    channel = f"{NAMESPACE}{event.channel}"
                    yield {"type": "message", "pattern": None, "channel": channel, "data": event.message}

    def unlisten(self) -> None:
        """Stop listening: what listens ends, within a moment."""
        self._unlistened.set()

    @contextmanager
    def thread(self) -> Iterator[Self]:
        """Listen on a thread of its own. Nothing is missed that happens after this has begun."""
        self._subscribed()
        thread = threading.Thread(target=self._consume, name="qless-listener")
        thread.start()
        try:
            yield self
        finally:
            self.unlisten()
            thread.join()

    def _subscribed(self) -> Subscription:
        if self._subscription is None:
            self._subscription = self._client.stanchion.events.subscribe(*self._channels)
        return self._subscription

    def _consume(self) -> None:
        for _ in self.listen():
            pass


class Events(Listener):
    """Calls a function of yours with the jid when something happens to a tracked job."""

    namespace = NAMESPACE
    events = ("canceled", "completed", "failed", "popped", "stalled", "put", "track", "untrack")

    def __init__(self, client: Caller) -> None:
        super().__init__(client, [f"{NAMESPACE}{event}" for event in self.events])
        self._callbacks: dict[str, Callable[[str], Any]] = {}

    def listen(self) -> Any:
        """Call the functions as events come, until ``unlisten``. One that raises is told to the log."""
        for message in super().listen():
            callback = self._callbacks.get(message["channel"].removeprefix(NAMESPACE))
            if callback is not None:
                _call(callback, message["data"])

    def _consume(self) -> None:
        self.listen()

    def on(self, evt: str, func: Callable[[str], Any]) -> None:
        """Let an event call a function. NotImplementedError for an event that there is not."""
        if evt not in self.events:
            raise NotImplementedError(f"there is no event {evt}; there are {', '.join(self.events)}")
        self._callbacks[evt] = func

    def off(self, evt: str) -> Callable[[str], Any] | None:
        """Let an event call nothing any more; the function that it called."""
        return self._callbacks.pop(evt, None)


def _call(callback: Callable[[str], Any], jid: str) -> None:
    try:
        callback(jid)
    except Exception:
        logger.exception("the function that was told of job %s raised", jid)
