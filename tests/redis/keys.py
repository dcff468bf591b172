"""A real server for the tests of keys, and what writes and reads them by hand."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, TypeVar

import redis

from stanchion.commands import Command
from stanchion.engine.contract import Finding, StateDump
from stanchion.engine.invariants import check
from stanchion.engine.redis.calls import call_of
from stanchion.engine.redis.dump import state
from stanchion.engine.redis.face import FACES
from stanchion.engine.redis.repair import check as check_talk
from stanchion.engine.redis.snapshot import Snapshot, read

R = TypeVar("R")

NOW = 1_700_000_000.0
DAY = int(NOW // 86400 * 86400)


class Keys:
    """A namespace of a server."""

    def __init__(self, socket: Path, namespace: str = "ql:") -> None:
        self.namespace = namespace
        self.redis = redis.Redis(unix_socket_path=str(socket), protocol=2)
        self._connection = redis.UnixDomainSocketConnection(path=str(socket), protocol=2)

    def talk(self, talk: Generator[Any, list[Any], R]) -> R:
        """Hold a conversation to its end."""
        try:
            commands = next(talk)
            while True:
                commands = talk.send(self.replies(commands))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def replies(self, commands: Any) -> list[Any]:
        self._connection.send_packed_command(self._connection.pack_commands(commands))
        return [self._reply() for _ in commands]

    def _reply(self) -> Any:
        try:
            return self._connection.read_response()
        except redis.ResponseError as error:
            return error

    def snapshot(self) -> Snapshot:
        return self.talk(read(self.namespace))

    def dump(self, now: float = NOW) -> StateDump:
        return self.talk(state(self.namespace, now))

    def sound(self, now: float = NOW) -> StateDump:
        """The state, which must be sound."""
        found = self.dump(now)
        assert check(found) == []
        return found

    def call(self, command: Command[Any], now: float = NOW) -> Any:
        """Run a command of the vocabulary by the library's function."""
        call = call_of(command)
        sent = FACES["library"].call(call.name, call.reads, self.namespace, repr(now), "", "", *call.arguments)
        (raw,) = self.replies([sent])
        return call.decode(raw)

    def check(self, *, fix: bool = False, now: float = NOW) -> list[Finding]:
        return self.talk(check_talk(self.namespace, fix=fix, now=now))

    def run(self, *commands: str) -> None:
        """Run commands as a person would type them, under ``ql:`` (written ``$``)."""
        for command in commands:
            self.redis.execute_command(*(word.replace("$", self.namespace) for word in command.split(" ")))

    def job(self, jid: str, **fields: Any) -> None:
        """A job's hash; ``_`` in a name is written ``-`` if it begins with x."""
        record = {"klass": "k", "data": "{}", "queue": "q", "state": "waiting", "x-ready": repr(NOW), **_named(fields)}
        self.redis.hset(f"{self.namespace}j:{jid}", mapping=record)

    def close(self) -> None:
        self._connection.disconnect()
        self.redis.close()


def _named(fields: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("_", "-") if name.startswith("x_") else name: value for name, value in fields.items()}
