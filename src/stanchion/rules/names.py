"""What a name may be: jids, queues, workers, tags, groups, throttles, options."""

from __future__ import annotations

MAX_NAME_BYTES = 1024
"""The longest name, in UTF-8 bytes: long enough for any path or URL, short enough for an index."""


def name_problem(value: object) -> str | None:
    """What is wrong with a name, as a text that follows the argument's name; None if it is fine.

    Any non-empty text that UTF-8 can hold is a name, but for NUL, which some storages end texts at.
    """
    if not isinstance(value, str):
        return f"must be a text, not {type(value).__name__}"
    if not value:
        return "must not be empty"
    if "\0" in value:
        return "must not hold a NUL character"
    if len(value) <= MAX_NAME_BYTES and value.isascii():
        return None
    return _encoding_problem(value)


def _encoding_problem(value: str) -> str | None:
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        return "holds a lone surrogate, which UTF-8 cannot encode"
    return f"is {size} bytes long; the most is {MAX_NAME_BYTES}" if size > MAX_NAME_BYTES else None
