"""The script as old clients call it: replies as they read them, errors as they take them apart, and what is published."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import redis

from stanchion.client.script import script_text
from tests.servers import SHARED, binaries, old_binaries

KINDS = sorted(binaries() | old_binaries())


class Refused(NamedTuple):
    """An error reply, without what old clients cut off."""

    message: str


class Event(NamedTuple):
    """What was published: the channel without the namespace, and the message, read if it is JSON."""

    channel: str
    message: Any


class Face:
    """A server of its own kind, empty, with the script, and an ear on all its channels."""

    def __init__(self, kind: str, text: str | None = None) -> None:
        self.server = SHARED.get(kind)
        self.redis = self.server.client()
        self.redis.flushall()
        self.digest = self.redis.script_load(text or script_text())
        self._ear = self.server.client().pubsub()
        self._ear.psubscribe("ql:*")
        self._ear.get_message(timeout=5)

    def raw(self, *args: Any) -> Any:
        """The reply as the server gives it."""
        try:
            return self.redis.evalsha(self.digest, 0, *args)
        except redis.ResponseError as error:
            return Refused(str(error).removeprefix("user_script:0: "))

    def __call__(self, *args: Any) -> Any:
        """The reply as clients read it: JSON decoded, texts as texts."""
        return _read(self.raw(*args))

    def events(self) -> list[Event]:
        """What was published since this was asked last."""
        self.redis.publish("ql:end", "")
        found = []
        while (heard := self._ear.get_message(timeout=5)) is not None and heard["channel"] != b"ql:end":
            found.append(Event(heard["channel"].decode().removeprefix("ql:"), _read(heard["data"])))
        return found

    def close(self) -> None:
        self._ear.close()
        self.redis.close()


def _read(reply: Any) -> Any:
    if isinstance(reply, list):
        return [_read(one) for one in reply]
    if not isinstance(reply, bytes):
        return reply
    text = reply.decode()
    return json.loads(text) if text[:1] in ("[", "{") else text
