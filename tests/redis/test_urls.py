"""What a URL may say, and that each kind reaches a real server."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import commands as c
from stanchion.client.open import open_async_engine, open_engine
from stanchion.engine.redis.url import parse
from stanchion.errors import BadURL, StoreForbids, StoreUnavailable
from tests.servers import NOTHING_KEPT, Server, binaries, free_port

REDIS_ONLY = pytest.mark.skipif("redis" not in binaries(), reason="there is no redis-server here")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://", {"hosts": (("localhost", 6379),), "db": 0, "namespace": "ql:", "tls": False}),
        ("redis://h", {"hosts": (("h", 6379),)}),
        ("redis://h:1/2", {"hosts": (("h", 1),), "db": 2}),
        ("valkey://u:p%40@h", {"username": "u", "password": "p@"}),
        ("redis://:secret@h", {"username": None, "password": "secret"}),
        ("redis://h?password=a/b", {"password": "a/b"}),
        (f"rediss://h?ca={__file__}", {"tls": True, "ca": __file__}),
        ("valkeys://h", {"tls": True}),
        ("redis://[::1]:7", {"hosts": (("::1", 7),)}),
        ("unix:///run/r.sock", {"path": "/run/r.sock", "hosts": ()}),
        ("redis://h?namespace=app:", {"namespace": "app:"}),
        ("redis://h?durability=replicas", {"replicas": 1}),
        ("redis://h?durability=replicas&replicas=2", {"replicas": 2}),
        ("redis://h?timeout=2.5", {"timeout": 2.5}),
        (
            "redis+sentinel://a:1,b/mymaster/3",
            {"kind": "sentinel", "hosts": (("a", 1), ("b", 26379)), "service": "mymaster", "db": 3},
        ),
        ("rediss+sentinel://a/s", {"kind": "sentinel", "tls": True}),
        ("redis+cluster://a,b:2", {"kind": "cluster", "hosts": (("a", 6379), ("b", 2)), "namespace": "{ql}:"}),
        ("redis+cluster://a?namespace={x}:ql:", {"namespace": "{x}:ql:"}),
    ],
)
def test_what_urls_say(url: str, expected: dict[str, Any]) -> None:
    location = parse(url)._asdict()
    assert {name: location[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("redis://a,b", "several hosts"),
        ("redis://h:port", "no host"),
        ("redis://h/x", "a number"),
        ("redis://h/1/2", "a number"),
        ("redis://h?namespace=", "empty"),
        ("redis://h?colour=red", "no option colour"),
        ("redis://h?durability=disk", "server or replicas"),
        ("redis://h?durability=replicas&replicas=0", "from 1"),
        ("redis://h?durability=replicas&replicas=1.5", "a whole number"),
        ("redis://h?replicas=2", "replicas goes with durability=replicas"),
        ("redis://h?timeout=1&timeout=2", "timeout is given 2 times"),
        (f"redis://h?ca={__file__}", "ca goes with TLS"),
        (f"unix:///s?key={__file__}", "key goes with TLS"),
        ("rediss://h?ca=/no/such/file", "ca names no file that is there: '/no/such/file'"),
        ("redis://h?timeout=never", "timeout"),
        ("redis://h?timeout=900", "timeout"),
        ("unix://", "unix:///path"),
        ("redis+sentinel://h", "name the service"),
        ("redis+cluster://h/1", "one database"),
        ("redis+cluster://h?namespace=app:", "{app}:"),
        ("ftp://h", "no engine for ftp"),
    ],
)
def test_what_is_wrong_is_named(url: str, word: str) -> None:
    with pytest.raises(BadURL) as caught:
        open_engine(url)
    assert word in str(caught.value)


def test_a_password_is_not_shown() -> None:
    assert "secret" not in parse("redis://user:secret@h").shown


def works(url: str) -> None:
    """A job lives through it, blocking and awaited."""

    async def awaited() -> None:
        async with open_async_engine(url) as engine:
            assert [job.jid for job in await engine.run(c.Pop("q", "w"))] == ["a"]
            assert await engine.run(c.Complete("a", "w", "q")) == "complete"

    with open_engine(url) as engine:  # type: ignore[attr-defined]
        assert engine.run(c.Put("q", "a", "k")) == "a"
        asyncio.run(awaited())
        assert engine.run(c.Get("a")).state == "complete"


def test_a_socket(tmp_path: Path) -> None:
    with Server("valkey", *NOTHING_KEPT, "--unixsocket", str(tmp_path / "s")):
        works(f"unix://{tmp_path}/s")


def test_a_user_and_password() -> None:
    with Server("valkey") as server, server.client() as client:
        client.execute_command("ACL", "SETUSER", "ada", "on", ">s3/c:t", "~*", "&*", "+@all")
        client.execute_command("ACL", "SETUSER", "default", "off")
        works(f"redis://ada:s3%2Fc%3At@127.0.0.1:{server.port}")
        with pytest.raises(StoreForbids):
            open_engine(f"redis://ada:wrong@127.0.0.1:{server.port}").run(c.Counts("q"))
        with pytest.raises(StoreForbids):
            open_engine(server.url).run(c.Counts("q"))


def test_nobody_there() -> None:
    engine = open_engine(f"redis://127.0.0.1:{free_port()}?timeout=0.2")
    with pytest.raises(StoreUnavailable) as caught:
        engine.run(c.Put("q", "a", "k"))
    assert "127.0.0.1" in str(caught.value)


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for localhost, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    return cert, key


@REDIS_ONLY
def test_tls(certificate: tuple[Path, Path]) -> None:
    cert, key = map(str, certificate)
    port = free_port()
    files = ("--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", "no")
    with Server("redis", *NOTHING_KEPT, "--tls-port", str(port), *files):
        works(f"rediss://localhost:{port}?ca={cert}")
        with pytest.raises(StoreUnavailable):
            open_engine(f"rediss://localhost:{port}?timeout=0.3").run(c.Counts("q"))


@pytest.fixture
def sentinel(tmp_path: Path) -> Iterator[tuple[int, Server, Server]]:
    """A sentinel's port, the primary that it watches, and a replica."""
    with (
        Server("redis") as primary,
        Server("redis", *NOTHING_KEPT, "--replicaof", "127.0.0.1", str(primary.port)) as replica,
    ):
        port, file = free_port(), tmp_path / "sentinel.conf"
        file.write_text(
            f"port {port}\nbind 127.0.0.1\ndir {tmp_path}\nsentinel monitor main 127.0.0.1 {primary.port} 1\n"
            "sentinel down-after-milliseconds main 300\nsentinel failover-timeout main 3000\n"
        )
        replica.until(lambda client: client.info("replication")["master_link_status"] == "up")
        command = [binaries()["redis"], str(file), "--sentinel"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            yield port, primary, replica
        finally:
            process.kill()
            process.wait()


@REDIS_ONLY
@pytest.mark.slow
def test_the_primary_is_found_again(sentinel: tuple[int, Server, Server]) -> None:
    port, primary, replica = sentinel
    url = f"redis+sentinel://127.0.0.1:{port}/main?timeout=20"
    with open_engine(url) as engine:  # type: ignore[attr-defined]
        engine.run(c.Put("q", "a", "k"))
        with primary.client() as client:
            assert client.execute_command("WAIT", 1, 5000) == 1
        primary.kill()
        assert engine.run(c.Put("q", "b", "k")) == "b"
        assert engine.run(c.Length("q")) == 2
        with replica.client() as client:
            assert client.info("replication")["role"] == "master"


def test_a_write_that_replicas_must_have() -> None:
    from stanchion.errors import OutcomeUnknown

    with Server("valkey") as primary:
        alone = open_engine(f"{primary.url}?durability=replicas&timeout=0.5")
        with pytest.raises(OutcomeUnknown):
            alone.run(c.Put("q", "a", "k"))
        with Server("valkey", *NOTHING_KEPT, "--replicaof", "127.0.0.1", str(primary.port)) as replica:
            replica.until(lambda client: client.info("replication")["master_link_status"] == "up")
            assert open_engine(f"{primary.url}?durability=replicas").run(c.Put("q", "b", "k")) == "b"
            with replica.client() as client:
                assert client.exists("ql:j:b")
