"""Writes ``stanchion/client/sync`` from ``stanchion/client/aio`` by a few text rules.

``python tools/generate_sync.py`` writes; ``--check`` only says whether what is there is what it would write. A rule that
changes nothing is an error: it is left over from something that is gone.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

CLIENT = Path(__file__).parent.parent / "src" / "stanchion" / "client"
HEADER = "# Generated from ../aio/{name} by tools/generate_sync.py: change that file, not this one.\n"

RULES = [
    (r"async def __aenter__", "def __enter__"),
    (r"async def __aexit__", "def __exit__"),
    (r"async def __aiter__", "def __iter__"),
    (r"AsyncIterator", "Iterator"),
    (r"\basync def ", "def "),
    (r"\bawait ", ""),
    (r"client\.aio", "client.sync"),
    (r"open_async_engine", "open_engine"),
    (r"\bAsync([A-Z])", r"\1"),
    (
        r"It can be shared by tasks and threads\.",
        "Threads can share it.",
    ),
    (r"callers that await\. ``stanchion\.client\.sync`` is generated from it\.", "callers that block."),
]


def translate(text: str, used: set[str]) -> str:
    """The text of a module for callers that block."""
    for pattern, replacement in RULES:
        text, count = re.subn(pattern, replacement, text)
        if count:
            used.add(pattern)
    return text


def main(arguments: list[str]) -> int:
    used: set[str] = set()
    stale = []
    for source in sorted((CLIENT / "aio").glob("*.py")):
        target = CLIENT / "sync" / source.name
        text = HEADER.format(name=source.name) + translate(source.read_text(), used)
        if not target.exists() or target.read_text() != text:
            stale.append(target.name)
            if "--check" not in arguments:
                target.write_text(text)
    unused = [pattern for pattern, _ in RULES if pattern not in used]
    if unused:
        print("rules that no file needs:", *unused)
    if stale and "--check" in arguments:
        print("out of date, run tools/generate_sync.py:", *stale)
    return 1 if unused or (stale and "--check" in arguments) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
