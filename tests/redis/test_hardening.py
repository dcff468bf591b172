"""What broke once: passwords that a server wants, databases that it lacks, URLs with odd letters, log entries nobody could read."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion import commands as c
from stanchion.client.open import open_async_engine, open_engine
from stanchion.engine.redis.url import masked, parse
from stanchion.errors import BadArgument, BadURL, OutcomeUnknown, StanchionError, StoreForbids
from tests.servers import Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server("valkey") as server:
        yield server


@pytest.fixture
def guarded(server: Server) -> Iterator[str]:
    """The URL of a server that wants a password, without it."""
    with server.client() as client:
        client.config_set("requirepass", "x")
        yield server.url
        client.config_set("requirepass", "")


def refusal(url: str) -> tuple[StanchionError, StanchionError]:
    """What a first call is refused with, blocking and awaited."""

    async def awaited() -> StanchionError:
        async with open_async_engine(url) as engine:
            with pytest.raises(StanchionError) as caught:
                await engine.run(c.Put("q", "a", "k"))
            return caught.value

    with open_engine(url) as engine, pytest.raises(StanchionError) as caught:  # type: ignore[attr-defined]
        engine.run(c.Put("q", "a", "k"))
    return caught.value, asyncio.run(awaited())


def test_a_server_that_wants_a_password_says_so(guarded: str) -> None:
    for error in refusal(guarded):
        assert isinstance(error, StoreForbids)
        assert "NOAUTH" in str(error)
        assert ".." not in str(error)


def test_a_database_that_the_server_lacks_is_a_wrong_url(server: Server) -> None:
    for error in refusal(f"{server.url}/16"):
        assert isinstance(error, BadURL)
        assert "no database of that number" in str(error)


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("redis://h/99999999999999999999", "database is a number"),
        ("redis://a..b", "is no host"),
        (f"redis://{'a' * 64}", "is no host"),
        ("redis://h?namespace=a#b", "%23"),
        ("redis://:pa#ss@h", "%23"),
        ("redis://:pa/ss@h", "%2F"),
        ("redis://:pa?ss@h", "%3F"),
        ("redis://:\ud800@h", "lone surrogate"),
    ],
)
def test_a_url_with_a_mistake_is_refused_with_it(url: str, word: str) -> None:
    with pytest.raises(BadURL) as caught:
        parse(url)
    assert word in str(caught.value)
    assert ":pa" not in str(caught.value)
    assert str(caught.value).encode()


@pytest.mark.parametrize("password", ["pa@ss", "pa/ss", "pa:ss", "p@/:#ss", "pa?ss", "p@?s=s"])
def test_no_part_of_a_password_is_shown(password: str) -> None:
    assert masked(f"redis://user:{password}@h:1/0") == "redis://user:***@h:1/0"


def test_what_is_no_password_is_shown() -> None:
    for url in (
        "redis://h:6379/0?namespace=a@b",
        "redis+sentinel://a:1,b:2/s?namespace=a@b",
        "unix:///run/a@b.sock",
        "redis://user@h",
    ):
        assert masked(url) == url
    assert parse("unix:///run/a@b.sock").path == "/run/a@b.sock"


def test_what_is_not_known_is_not_called_unchanged(server: Server) -> None:
    with open_engine(f"{server.url}?timeout=0.3") as engine:  # type: ignore[attr-defined]
        engine.run(c.Put("q", "a", "k"))
        os.kill(server.pid, signal.SIGSTOP)
        try:
            with pytest.raises(OutcomeUnknown) as caught:
                engine.run(c.Put("q", "b", "k"))
        finally:
            os.kill(server.pid, signal.SIGCONT)
    assert "Timeout" in str(caught.value)
    assert "Nothing was changed" not in str(caught.value)


@pytest.mark.parametrize("data", ['{"a":1e999}', '{"a":"\\ud800"}', f'{{"a":{"1" * 5000}}}'])
@pytest.mark.parametrize("kind", ["sqlite", "server"])
def test_a_log_entry_that_could_not_be_read_is_refused(data: str, kind: str, server: Server, tmp_path: Path) -> None:
    with open_engine(server.url if kind == "server" else f"sqlite:///{tmp_path}/a.db") as engine:  # type: ignore[attr-defined]
        engine.run(c.Put("q", "a", "k"))
        with pytest.raises(BadArgument, match="log: data cannot be read back"):
            engine.run(c.Log("a", "said", data))
        engine.run(c.Cancel(("a",)))
