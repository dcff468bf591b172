"""The server that the tests of keys share."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from stanchion.engine.redis import library
from tests.redis.keys import Keys
from tests.servers import binaries


@pytest.fixture(scope="session")
def socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The socket of a real server, for each process of the test run its own."""
    folder = tmp_path_factory.mktemp("server")
    path = folder / "s"
    options = ("--port", "0", "--unixsocket", path, "--dir", folder, "--save", "", "--logfile", folder / "log")
    with subprocess.Popen([binaries()["valkey"], *options]) as process:
        try:
            with redis.Redis(unix_socket_path=str(path)) as connection:
                _await(connection)
                connection.function_load(library.text())
            yield path
        finally:
            process.terminate()


@pytest.fixture
def keys(socket: Path) -> Iterator[Keys]:
    """Its database, empty."""
    keys = Keys(socket)
    keys.redis.flushdb()
    yield keys
    keys.close()


def _await(connection: redis.Redis) -> None:
    for _ in range(500):
        try:
            connection.ping()
            return
        except redis.ConnectionError:
            time.sleep(0.01)
