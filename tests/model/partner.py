"""The other process of the model tests: runs the commands that come as lines, and answers each with a line."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from stanchion import commands as c
from stanchion.client.open import open_engine
from stanchion.commands import VOCABULARY
from stanchion.errors import StanchionError


def command_of(name: str, arguments: dict[str, Any]) -> c.Command[Any]:
    """The command that a line names."""
    if name == "put_many":
        return c.PutMany([c.Put(**one) for one in arguments["puts"]])
    if name == "complete_many":
        return c.CompleteMany([c.Complete(**one) for one in arguments["completes"]])
    return VOCABULARY[name](**arguments)


def main(url: str) -> None:
    engine = open_engine(url)
    for line in sys.stdin:
        name, arguments, now = msgspec.json.decode(line)
        try:
            answer: Any = ["reply", engine.run(command_of(name, arguments), now=now)]
        except StanchionError as error:
            answer = ["error", type(error).__name__]
        print(msgspec.json.encode(answer).decode(), flush=True)
    engine.close()


if __name__ == "__main__":
    main(sys.argv[1])
