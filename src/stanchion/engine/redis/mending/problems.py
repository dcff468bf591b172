"""Which fields of a record cannot be read as what they should be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from stanchion.engine.redis import replies
from stanchion.engine.redis.jobs import entry, number_of, readable
from stanchion.states import State

SERIOUS = frozenset(
    {"state", "klass", "data", "queue", "tags", "throttles", "priority", "retries", "remaining", "expires"}
    | {"time", "x-ready", "x-seq", "x-due", "x-popped", "x-attempt"}
)
"""A job with any of these broken is no longer handed out."""

_NUMBERS = ("priority", "expires", "time", "x-ready", "x-seq", "x-due", "x-popped", "x-failed")
_WHOLES = ("retries", "remaining", "x-attempt")
_SHOWN = 100


def problems_of_job(raw: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with each field of a job."""
    found = {field: "is missing" for field in ("klass", "data", "queue", "state") if field not in raw}
    tests: dict[str, Callable[[str], bool]] = {
        "state": lambda text: text in set(State),
        "x-policy": lambda text: text in ("wait", "run", "fail", "cancel"),
        "failure": lambda text: replies.failure(text) is not None or _is_empty(text),
        "tags": _is_names,
        "throttles": _is_names,
        "history": lambda text: bool(replies.job_of("", {"history": text}).history) or _is_empty(text),
        **dict.fromkeys(_NUMBERS, _is_number),
        **dict.fromkeys(_WHOLES, _is_whole),
    }
    return found | _failing(raw, tests)


def problems_of_template(raw: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with each field of a recurring job."""
    tests: dict[str, Callable[[str], bool]] = {
        "interval": lambda text: (number_of(text) or 0) > 0,
        "priority": _is_number,
        "tags": _is_names,
        "throttles": _is_names,
        **dict.fromkeys(("retries", "backlog", "count"), _is_whole),
    }
    return _failing(raw, tests)


def bad_entries(history: Iterable[str]) -> list[str]:
    """What in a history is no entry."""
    return [text for text in history if not replies.job_of("", {}, (entry(text),)).history]


def _failing(raw: Mapping[str, str], tests: Mapping[str, Callable[[str], bool]]) -> dict[str, str]:
    return {
        field: f"cannot be read: {readable(raw[field])[:_SHOWN]!r}"
        for field, test in tests.items()
        if field in raw and not test(readable(raw[field]))
    }


def _is_number(text: str) -> bool:
    return text == "" or number_of(text) is not None


def _is_whole(text: str) -> bool:
    number = number_of(text)
    return text == "" or (number is not None and number.is_integer())


def _is_names(text: str) -> bool:
    return _is_empty(text) or bool(replies.names(text))


def _is_empty(text: str) -> bool:
    return text in ("", "[]", "{}")
