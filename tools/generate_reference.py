"""Writes ``docs/reference.md`` from the vocabulary, the records, the errors and the options. ``--check``: is it up to date?"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stanchion import errors, records
from stanchion.commands import VOCABULARY, kinds_of, reply_type
from stanchion.rules.config import OPTIONS, QUEUE_OPTIONS
from stanchion.states import TRANSITIONS, State

TARGET = Path(__file__).parent.parent / "docs" / "reference.md"


def lines() -> Iterator[str]:
    """The page, line by line."""
    yield "# Reference"
    yield ""
    yield "Made by `make docs` from the code; change that, not this page."
    yield ""
    yield "## Commands"
    yield ""
    yield "`client.run(Put(…))` runs any of them; `from stanchion.commands import Put`."
    for name, command in VOCABULARY.items():
        yield from _command(name, command)
    yield from _records()
    yield from _errors()
    yield from _options()
    yield from _transitions()


def _command(name: str, command: type[Any]) -> Iterator[str]:
    yield ""
    yield f"### {name}"
    yield ""
    yield f"`{command.__name__}` → `{_type(reply_type(command))}`{', changes nothing' if command.reads else ''}"
    yield ""
    yield inspect.getdoc(command) or ""
    arguments = list(kinds_of(command).items())
    if arguments:
        yield ""
        yield "| argument | is | unless given |"
        yield "| --- | --- | --- |"
        for argument, kind in arguments:
            default = command.__dataclass_fields__[argument].default
            given = "must be given" if "MISSING" in repr(default) else f"`{default!r}`"
            yield f"| `{argument}` | {kind.says}{' or None' if kind.optional else ''} | {given} |"


def _records() -> Iterator[str]:
    yield ""
    yield "## Records"
    for name, record in inspect.getmembers(records, inspect.isclass):
        if issubclass(record, records.Record) and record is not records.Record:
            yield ""
            yield f"### {name}"
            yield ""
            yield inspect.getdoc(record) or ""
            yield ""
            yield "Fields: " + ", ".join(f"`{field}`" for field in record.__struct_fields__)


def _errors() -> Iterator[str]:
    yield ""
    yield "## Errors"
    yield ""
    yield "| class | code | kind | message |"
    yield "| --- | --- | --- | --- |"
    for name, error in inspect.getmembers(errors, inspect.isclass):
        if issubclass(error, errors.StanchionError) and error is not errors.StanchionError:
            kind = next(
                base.__name__
                for base in error.__mro__[::-1]
                if base.__module__ == errors.__name__ and base is not errors.StanchionError
            )
            message = " ".join((inspect.getdoc(error) or "").split()).replace("|", "\\|")
            yield f"| `{name}` | `{error.code}` | {kind} | {message} |"


def _options() -> Iterator[str]:
    yield ""
    yield "## Options"
    yield ""
    yield "| option | unless set | meaning |"
    yield "| --- | --- | --- |"
    for name, option in [*OPTIONS.items(), *((f"<queue>-{name}", option) for name, option in QUEUE_OPTIONS.items())]:
        yield f"| `{name}` | {option.default} | {option.meaning} |"


def _transitions() -> Iterator[str]:
    yield ""
    yield "## States"
    yield ""
    yield "| from | by | to |"
    yield "| --- | --- | --- |"
    for verb, table in TRANSITIONS.items():
        for before, after in table.items():
            yield f"| {before or 'no job'} | {verb} | {', '.join(_order(after))} |"


def _order(states: frozenset[State | None]) -> list[str]:
    return sorted(str(state) if state else "no job" for state in states)


def _type(kind: Any) -> str:
    text = kind.__name__ if inspect.isclass(kind) and not getattr(kind, "__args__", None) else str(kind)
    return text.replace("stanchion.records.", "").replace("typing.", "").replace("NoneType", "None")


def main(arguments: list[str]) -> int:
    text = "\n".join(lines()) + "\n"
    if "--check" in arguments:
        if TARGET.exists() and TARGET.read_text() == text:
            return 0
        print("docs/reference.md is out of date: run make docs")
        return 1
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
