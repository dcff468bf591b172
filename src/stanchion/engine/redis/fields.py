"""The texts of a record, read as what they should be: what is missing or garbage has its default, and garbage is noted."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import msgspec

from stanchion.records import Failure, HistoryEntry

_names = msgspec.json.Decoder(tuple[str, ...])
_SHOWN = 200  # characters of a value that a problem shows


class Fields:
    """A record as it is kept: names of fields and their texts."""

    def __init__(self, raw: Mapping[str, str]) -> None:
        self._raw = raw
        self.problems: dict[str, str] = {}
        """The fields that could not be read, and what is wrong with each."""
        self.bad_entries: list[str] = []
        """What in the history is no entry."""

    def __contains__(self, field: str) -> bool:
        return field in self._raw

    def text(self, field: str, default: str = "") -> str:
        """A text, as far as it is UTF-8."""
        return readable(self._raw.get(field, default))

    def number(self, field: str, default: float = 0.0) -> float:
        """A finite number."""
        text = self._raw.get(field, "")
        number = number_of(text)
        if number is None:
            if text:
                self.problems[field] = _is_no(field, text, "number")
            return default
        return number

    def whole(self, field: str, default: int = 0) -> int:
        """A whole number."""
        number = self.number(field, math.inf)
        if math.isinf(number):
            return default
        if not number.is_integer():
            self.problems[field] = _is_no(field, self._raw[field], "whole number")
            return default
        return int(number)

    def names(self, field: str) -> tuple[str, ...]:
        """A JSON list of names. Lua's encoder writes an empty one as ``{}``."""
        text = self._raw.get(field, "")
        if text in ("", "[]", "{}"):
            return ()
        try:
            return _names.decode(readable(text))
        except msgspec.MsgspecError:
            self.problems[field] = _is_no(field, text, "list of names")
            return ()

    def failure(self) -> Failure | None:
        """The last failure: a JSON object, empty if there was none."""
        text = self._raw.get("failure", "")
        if text in ("", "{}", "[]"):
            return None
        told = _decoded(text)
        if not isinstance(told, dict) or not isinstance(told.get("group"), str):
            self.problems["failure"] = _is_no("failure", text, "failure")
            return None
        message, when, worker = told.get("message"), number_of(told.get("when")), told.get("worker")
        return Failure(told["group"], _text(message), when or 0.0, _text(worker))

    def old_history(self) -> list[HistoryEntry]:
        """What the first Qless kept as one field: stays in queues, each with what happened there."""
        text = self._raw.get("history", "")
        stays = _decoded(text) if text else []
        if not isinstance(stays, list):
            self.problems["history"] = _is_no("history", text, "list")
            return []
        return [entry for stay in stays if isinstance(stay, dict) for entry in _of_stay(stay)]

    def history(self, texts: list[str]) -> tuple[HistoryEntry, ...]:
        """The entries of the list, each ``[when, what, {more}]``, behind what an old field holds."""
        entries = self.old_history()
        for text in texts:
            entry = _entry(_decoded(text))
            if entry is None:
                self.bad_entries.append(text)
            else:
                entries.append(entry)
        return tuple(entries)


def number_of(text: Any) -> float | None:
    """A text or JSON number as a finite number; None if it is none."""
    if isinstance(text, bool) or not isinstance(text, str | int | float) or "_" in str(text):
        return None
    try:
        number = float(text)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def readable(text: str) -> str:
    """A text without the escapes that stand for bytes which are not UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _decoded(text: str) -> Any:
    try:
        return json.loads(readable(text))
    except (ValueError, RecursionError):
        return None


def _entry(told: Any) -> HistoryEntry | None:
    if not isinstance(told, list) or not 2 <= len(told) <= 3 or not isinstance(told[1], str):
        return None
    when, more = number_of(told[0]), told[2] if len(told) == 3 else {}
    if when is None or not isinstance(more, dict | list | None):
        return None
    return HistoryEntry(told[1], when, more if isinstance(more, dict) else {})


def _of_stay(stay: dict[str, Any]) -> list[HistoryEntry]:
    mores = {"put": {"q": stay.get("q")}, "popped": {"worker": stay.get("worker")}, "failed": {}, "done": {}}
    times = {what: number_of(stay.get(what)) for what in mores}
    return [HistoryEntry(what, float(math.floor(when)), mores[what]) for what, when in times.items() if when is not None]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _is_no(field: str, text: str, what: str) -> str:
    return f"{field} is no {what}: {readable(text)[:_SHOWN]!r}"
