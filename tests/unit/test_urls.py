"""URLs that are shown do not show passwords."""

from __future__ import annotations

import pytest

from stanchion.client.urls import without_password


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://localhost/0", "redis://localhost/0"),
        ("redis://:secret@localhost/0", "redis://:***@localhost/0"),
        ("rediss://ada:s%40:cret@a:1,b:2/0?timeout=1", "rediss://ada:***@a:1,b:2/0?timeout=1"),
        ("unix:///tmp/s?password=secret&namespace=x:", "unix:///tmp/s?password=***&namespace=x:"),
        ("sqlite:////tmp/a@b:c.db", "sqlite:////tmp/a@b:c.db"),
    ],
)
def test_no_password_is_shown(url: str, shown: str) -> None:
    assert without_password(url) == shown
