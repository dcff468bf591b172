"""URLs as they are shown to people."""

from __future__ import annotations

import re

_PASSWORD = re.compile(r"(?<=://)([^@/]*?):[^@/]*@|(?<=[?&]password=)[^&#]*")


def without_password(url: str) -> str:
    """A URL that can be shown: its password is not."""
    return _PASSWORD.sub(lambda found: f"{found[1]}:***@" if found[1] is not None else "***", url)
