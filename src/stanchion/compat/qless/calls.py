"""What the parts of the face need of its client, and values as qless-py shows them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from stanchion.client.data import encode
from stanchion.client.sync.client import Client as NativeClient
from stanchion.commands import Command
from stanchion.compat.qless.exceptions import translated
from stanchion.records import Failure, HistoryEntry

R = TypeVar("R")


class Caller(Protocol):
    """The face's client, as its parts know it."""

    worker_name: str

    @property
    def stanchion(self) -> NativeClient: ...

    @property
    def queues(self) -> Any: ...

    @property
    def config(self) -> Any: ...

    def run(self, command: Callable[..., Command[R]], *args: Any, **options: Any) -> R: ...


def as_json(value: Any, command: str) -> str:
    """The JSON text of a job's data. Raises QlessException where it has none."""
    with translated():
        return encode(value, command=command, argument="data")


def as_list(texts: tuple[str, ...]) -> str:
    """The JSON text of a list of names, which is what qless-py gives where it does not read the reply."""
    return json.dumps(list(texts), ensure_ascii=False, separators=(",", ":"))


def listed(texts: tuple[str, ...]) -> list[str]:
    """Names as a list that is the caller's own."""
    return list(texts)


def number(value: float) -> float:
    """Whole numbers are ints."""
    return int(value) if float(value).is_integer() else value


def failure_of(failure: Failure | None) -> dict[str, Any]:
    """A failure as a dictionary; an empty one for a job that never failed."""
    if failure is None:
        return {}
    return {"group": failure.group, "message": failure.message, "when": int(failure.when), "worker": failure.worker}


def history_of(history: Sequence[HistoryEntry]) -> list[dict[str, Any]]:
    """A history as dictionaries, with whole seconds."""
    return [{**entry.more, "what": entry.what, "when": int(entry.when)} for entry in history]
