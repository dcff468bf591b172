"""Finding the files to index: the standard library of the Python that runs."""

from __future__ import annotations

import sysconfig
from collections import defaultdict
from pathlib import Path

MODULES = "(modules)"
"""The package that single files of the library count to."""

_PASSED_OVER = {"site-packages", "dist-packages", "__pycache__"}


def library() -> Path:
    """The folder of the standard library."""
    return Path(sysconfig.get_path("stdlib"))


def packages(root: Path) -> dict[str, list[str]]:
    """The Python files below a folder by package, the names relative to it."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root).parts
        if not _PASSED_OVER.intersection(parts):
            found[parts[0] if len(parts) > 1 else MODULES].append("/".join(parts))
    return dict(found)
