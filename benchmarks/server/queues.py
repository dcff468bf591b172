"""The two that are compared: our function library, and the old script."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from importlib.metadata import files
from typing import Any, Protocol

from stanchion import commands as c
from stanchion.client.open import open_engine

DATA = json.dumps({"x": "y" * 90})
"""About a hundred bytes."""


class Queue(Protocol):
    """A queue whose jobs live through put, pop and complete, one by one or so many in one go."""

    name: str

    def put(self, count: int) -> None: ...

    def pop(self, count: int) -> list[Any]: ...

    def complete(self, jobs: list[Any]) -> None: ...


class Ours:
    """Stanchion. In batches: one command for all, as its client does it."""

    name = "Stanchion"

    def __init__(self, url: str) -> None:
        self._engine = open_engine(url)

    def put(self, count: int) -> None:
        puts = [c.Put("q", uuid.uuid4().hex, "k", DATA) for _ in range(count)]
        self._engine.run(puts[0] if count == 1 else c.PutMany(puts))

    def pop(self, count: int) -> list[Any]:
        return list(self._engine.run(c.Pop("q", "w", count)))

    def complete(self, jobs: list[Any]) -> None:
        done = [c.Complete(job.jid, "w", "q", attempt=job.attempt) for job in jobs]
        self._engine.run(done[0] if len(done) == 1 else c.CompleteMany(done))


class OldScript:
    """The script of qless-py. In batches: puts and completions in a pipeline, and pop with a count, as its clients can."""

    name = "Qless script"

    def __init__(self, server: Any) -> None:
        self._server = server
        self._call = server.register_script(old_script())

    def put(self, count: int) -> None:
        self._all([("put", time.time(), "q", uuid.uuid4().hex, "k", DATA, 0) for _ in range(count)])

    def pop(self, count: int) -> list[Any]:
        return list(json.loads(self._call(args=["pop", time.time(), "q", "w", count])))

    def complete(self, jobs: list[Any]) -> None:
        self._all([("complete", time.time(), job["jid"], "w", "q", job["data"]) for job in jobs])

    def _all(self, calls: list[tuple[Any, ...]]) -> None:
        if len(calls) == 1:
            self._call(args=calls[0])
            return
        with self._server.pipeline(transaction=False) as pipeline:
            for call in calls:
                self._call(args=call, client=pipeline)
            pipeline.execute()


def old_script() -> str:
    """Its text. It adds a function to a library's table, which servers no longer allow: that becomes a function of its own."""
    path = next(file for file in files("qless-py") or () if file.name == "qless.lua")
    text = path.read_text()
    return text.replace("function table.extend(self, other)", "local table_extend = function(self, other)").replace(
        "table.extend(", "table_extend("
    )


QUEUES: dict[str, Callable[[str, Any], Queue]] = {
    Ours.name: lambda url, server: Ours(url),
    OldScript.name: lambda url, server: OldScript(server),
}
