"""The golden vectors: facts worked out with exact fractions, apart from the rules, and read by the rules in Lua as well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

FOLDER = Path(__file__).parents[2] / "golden"


def cases(name: str) -> list[Any]:
    """The cases of one file."""
    found: list[Any] = msgspec.json.decode((FOLDER / f"{name}.json").read_bytes())["cases"]
    assert found
    return found
