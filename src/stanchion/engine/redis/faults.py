"""What a server's error means: who says what, and what to do about it, as data."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, NamedTuple

from redis import exceptions

from stanchion import errors
from stanchion.errors import (
    BadURL,
    OutcomeUnknown,
    StanchionError,
    StoreForbids,
    StoreFull,
    StoreUnavailable,
)


class Reaction(Enum):
    """What to do about an error. None of those that are repeated has run the command."""

    REPEAT = auto()  # on the same server, after a while
    SEEK = auto()  # find out who the primary is now, then repeat
    MOVE = auto()  # repeat where the error says
    LOAD = auto()  # load the library, then repeat
    REFUSE = auto()


class Fault(NamedTuple):
    """An error with what to do about it, and what it is to the caller if that does not help."""

    reaction: Reaction
    error: StanchionError
    detail: str = ""
    by_library: bool = False
    """Our library refused it, after a look at the token: no earlier try of the same call has been done."""


class _Rule(NamedTuple):
    reaction: Reaction
    error: Callable[[str, str], StanchionError]  # of the store's URL and the server's text


def _unavailable(url: str, text: str) -> StanchionError:
    return StoreUnavailable(path=url, problem=text)


_RULES = {
    "LOADING": _Rule(Reaction.REPEAT, _unavailable),
    "BUSY": _Rule(Reaction.REPEAT, _unavailable),
    "TRYAGAIN": _Rule(Reaction.REPEAT, _unavailable),
    "CLUSTERDOWN": _Rule(Reaction.REPEAT, _unavailable),
    "NOREPLICAS": _Rule(Reaction.REPEAT, _unavailable),
    "EXECABORT": _Rule(Reaction.REPEAT, _unavailable),
    "UNBLOCKED": _Rule(Reaction.REPEAT, _unavailable),
    "MAXCLIENTS": _Rule(Reaction.REPEAT, _unavailable),
    "READONLY": _Rule(Reaction.SEEK, _unavailable),
    "MASTERDOWN": _Rule(Reaction.SEEK, _unavailable),
    "MOVED": _Rule(Reaction.MOVE, _unavailable),
    # The slot is on its way to another node, with some of the keys: functions need all of them, so the move is waited for.
    "ASK": _Rule(Reaction.REPEAT, _unavailable),
    "NOFUNCTION": _Rule(Reaction.LOAD, _unavailable),
    "NOSCRIPT": _Rule(Reaction.LOAD, _unavailable),
    "MISCONF": _Rule(Reaction.REFUSE, _unavailable),
    "OOM": _Rule(Reaction.REFUSE, lambda url, text: StoreFull(url=url)),
    "NOPERM": _Rule(Reaction.REFUSE, lambda url, text: StoreForbids(url=url, problem=text)),
    "NOAUTH": _Rule(Reaction.REFUSE, lambda url, text: StoreForbids(url=url, problem=text)),
    "WRONGPASS": _Rule(Reaction.REFUSE, lambda url, text: StoreForbids(url=url, problem=text)),
    "NODATABASE": _Rule(
        Reaction.REFUSE, lambda url, text: BadURL(url=url, problem="the server has no database of that number")
    ),
    "CROSSSLOT": _Rule(Reaction.REFUSE, lambda url, text: BadURL(url=url, problem=f"a cluster wants a hash tag: {text}")),
}
"""By the first word of the server's error, or ours for errors that share the word ERR."""

_TEXTS = {
    "Function not found": "NOFUNCTION",
    "max number of clients reached": "MAXCLIENTS",
    "invalid password": "WRONGPASS",
    "DB index is out of range": "NODATABASE",
}

_CODES: dict[str, type[StanchionError]] = {
    one.code.upper(): one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, StanchionError)
}
"""The codes in which the library refuses a command, and their classes."""

_REDIS_PY = {
    exceptions.BusyLoadingError: "LOADING",
    exceptions.AuthenticationError: "NOAUTH",
    exceptions.ReadOnlyError: "READONLY",
    exceptions.OutOfMemoryError: "OOM",
    exceptions.MovedError: "MOVED",
    exceptions.AskError: "ASK",
    exceptions.TryAgainError: "TRYAGAIN",
    exceptions.MasterDownError: "MASTERDOWN",
    exceptions.ClusterDownError: "CLUSTERDOWN",
    exceptions.ClusterCrossSlotError: "CROSSSLOT",
    exceptions.NoPermissionError: "NOPERM",
    exceptions.NoScriptError: "NOSCRIPT",
    exceptions.ExecAbortError: "EXECABORT",
}
"""redis-py takes the first word off and tells it by the class."""

ANSWERS = (exceptions.ResponseError, exceptions.BusyLoadingError, exceptions.AuthenticationError)
"""Errors that are a server's answer, whatever redis-py derives them from; the others are the connection's."""


def fault_of(error: Exception, url: str, command: str) -> Fault:
    """What a server's error means for a command."""
    code, text = _code_and_text(error)
    if code in _CODES:
        return Fault(Reaction.REFUSE, _refusal(code, text), by_library=True)
    rule = _RULES.get(code)
    if rule is None:
        return Fault(Reaction.REFUSE, OutcomeUnknown(command=command, problem=f"the server said: {code} {text}".strip()))
    return Fault(rule.reaction, rule.error(url, f"{code} {text}".strip().rstrip(".")), text)


def address_in(detail: str) -> tuple[str, int]:
    """The address in what MOVED says: a slot, and host:port."""
    host, _, port = detail.rsplit(maxsplit=1)[-1].rpartition(":")
    return host, int(port)


def _code_and_text(error: Exception) -> tuple[str, str]:
    text = str(error)
    word, _, rest = text.partition(" ")
    if word in _CODES:
        return word, rest  # what follows may hold anybody's words
    for part, code in _TEXTS.items():
        if part in text:
            return code, text
    for kind, code in _REDIS_PY.items():
        if isinstance(error, kind):
            # MOVED and ASK keep their details in the message that redis-py was given.
            return code, text
    return word, rest


def _refusal(code: str, text: str) -> StanchionError:
    details: dict[str, Any] = json.loads(text)
    cause = details.pop("cause", None)
    if cause:
        inner, _, rest = str(cause).partition(" ")
        details["problem"] = f"was refused: {_refusal(inner, rest)}".rstrip(".")
    return _CODES[code](**details)
