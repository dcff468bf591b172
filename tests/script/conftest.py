"""The script on every server of this machine, old ones too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.script.face import KINDS, Face
from tests.servers import SHARED


@pytest.fixture(scope="session", autouse=True)
def servers() -> Iterator[None]:
    yield
    SHARED.remove()


@pytest.fixture(params=KINDS)
def face(request: pytest.FixtureRequest) -> Iterator[Face]:
    face = Face(request.param)
    yield face
    face.close()
