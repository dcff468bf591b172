"""Another process on the same file. It runs the commands that come as lines, and answers each with a line."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, Self

import msgspec

from stanchion import commands as c
from stanchion import errors
from stanchion.client.open import open_engine
from stanchion.commands import VOCABULARY


class Partner:
    """This side of it."""

    def __init__(self, url: str) -> None:
        command = [sys.executable, "-m", "tests.model.partner", url]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, command: c.Command[Any], now: float) -> Any:
        """The reply in plain values, or the class of the error."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode([command.name, command, now]) + b"\n")
        self._process.stdin.flush()
        kind, answer = msgspec.json.decode(self._process.stdout.readline())
        return answer if kind == "reply" else getattr(errors, answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()
            assert self._process.wait(10) == 0


def command_of(name: str, arguments: dict[str, Any]) -> c.Command[Any]:
    """The command that a line names."""
    if name == "put_many":
        return c.PutMany(tuple(c.Put(**one) for one in arguments["puts"]))
    if name == "complete_many":
        return c.CompleteMany(tuple(c.Complete(**one) for one in arguments["completes"]))
    return VOCABULARY[name](**arguments)


def main(url: str) -> None:
    engine = open_engine(url)
    for line in sys.stdin.buffer:
        name, arguments, now = msgspec.json.decode(line)
        try:
            answer: Any = ["reply", engine.run(command_of(name, arguments), now=now)]
        except errors.StanchionError as error:
            answer = ["error", type(error).__name__]
        sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
        sys.stdout.buffer.flush()
    engine.close()


if __name__ == "__main__":
    main(sys.argv[1])
