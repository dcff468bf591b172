"""A fault in the middle of a command: the n-th statement that it runs raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from stanchion.engine.sqlite.transaction import Transaction

STATEMENTS = ("all", "each", "one", "named", "value", "run", "insert", "run_many")


class Broken(Exception):
    """What is thrown into a command."""


class Faults:
    """Counts the statements of commands, and breaks one on demand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._left = -1
        for name in STATEMENTS:
            monkeypatch.setattr(Transaction, name, self._counted(getattr(Transaction, name)))

    @contextmanager
    def at(self, statement: int) -> Iterator[None]:
        """Break this statement of what is run in the block, from 0."""
        self._left = statement
        try:
            yield
        finally:
            self._left = -1

    def _counted(self, original: Any) -> Any:
        def statement(*args: Any, **named: Any) -> Any:
            self._left -= 1
            if self._left == -1:
                raise Broken
            return original(*args, **named)

        return statement
