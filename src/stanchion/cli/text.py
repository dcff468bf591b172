"""Texts and times for people: whatever a name holds, it cannot break a table or a terminal."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from rich.text import Text

from stanchion.cli.charts import seconds

LONGEST = 2000


def safe(text: str) -> Text:
    """A text as it is shown: control characters spelled out, no markup read, and very long ones cut."""
    shown = "".join(character if character.isprintable() or character == "\n" else _spelled(character) for character in text)
    if len(shown) > LONGEST:
        shown = f"{shown[:LONGEST]}… ({len(shown) - LONGEST} characters more)"
    return Text(shown)


def name(text: str) -> str:
    """A name as it is shown on one line."""
    return text.replace("\n", "\\n")


def when(time: float, now: float) -> str:
    """A time: the UTC clock, and how far from now."""
    if not time:
        return ""
    apart = abs(now - time)
    distance = f"{seconds(apart)} ago" if time <= now else f"in {seconds(apart)}"
    return f"{clock(time)} ({distance})"


def clock(time: float) -> str:
    """A time of the UTC clock."""
    try:
        return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return f"{time:g}"


def pretty(data: str) -> str:
    """A JSON text with its parts on lines of their own, if it is not too long for that."""
    if len(data) > LONGEST:
        return data
    try:
        return json.dumps(json.loads(data), indent=1, ensure_ascii=False)
    except ValueError:
        return data


def _spelled(character: str) -> str:
    return character.encode("unicode_escape", errors="backslashreplace").decode()
