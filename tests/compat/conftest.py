"""The face on a file and on a server, and qless-py itself, if it is there, with our script: what holds for it holds for us."""

from __future__ import annotations

import importlib
import socket
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from stanchion.client.script import script_text
from stanchion.compat import qless
from stanchion.compat.qless import registry
from tests.servers import SHARED

OURS = ["sqlite", "valkey"]
ALL = [*OURS, *(["qless-py"] if find_spec("qless") else [])]


class Face(NamedTuple):
    """A module to be used as qless, where its queues are, and a client of them that pops under the name ``w``."""

    kind: str
    qless: Any
    url: str
    client: Any

    def other(self, worker: str) -> Any:
        """A client that pops under another name."""
        return _client(self.kind, self.qless, self.url, worker)


@pytest.fixture(scope="session", autouse=True)
def servers() -> Iterator[None]:
    yield
    SHARED.remove()


@pytest.fixture(autouse=True)
def nothing_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins with nothing registered."""
    monkeypatch.setattr(registry, "_registered", {})


@pytest.fixture(params=ALL)
def face(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Face]:
    """Tests that use it hold for qless-py, too."""
    yield from _face(request.param, tmp_path)


@pytest.fixture(params=OURS)
def ours(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Face]:
    """For what qless-py does not do, or does otherwise."""
    yield from _face(request.param, tmp_path)


def _face(kind: str, folder: Path) -> Iterator[Face]:
    if kind == "qless-py":
        module: Any = importlib.import_module("qless")
        SHARED.url("valkey")  # empties it
        url = SHARED.get("valkey").url
    else:
        module = qless
        url = SHARED.url("valkey") if kind == "valkey" else f"sqlite:///{folder}/jobs.db?durability=fast"
    face = Face(kind, module, url, _client(kind, module, url, "w"))
    yield face
    if kind == "qless-py":
        face.client.redis.close()
    else:
        face.client.close()


def _client(kind: str, module: Any, url: str, worker: str) -> Any:
    client = module.Client(url, hostname=worker)
    assert client.worker_name == worker != socket.gethostname()
    if kind == "qless-py":
        client._lua = client.redis.register_script(script_text())
    return client
