"""Every key and field of a queue, damaged in every way: no pop fails, the others flow, and whoever is damaged can be removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from stanchion import commands as c
from stanchion.client.open import open_engine
from stanchion.errors import Refused
from tests.servers import SHARED

VALUES = (b"", b"garbage", b"\xff\xfe", b"nan", b"-5", b"inf", b"9" * 400, b"x" * 100_000, b"[1", b"{}")
SCORES = ("-inf", "inf", "-1e300")
WRITE: dict[str, Callable[[Any, str], Any]] = {
    "string": lambda server, key: server.set(key, "x"),
    "list": lambda server, key: server.rpush(key, "x"),
    "set": lambda server, key: server.sadd(key, "x"),
    "zset": lambda server, key: server.zadd(key, {"x": 1}),
    "hash": lambda server, key: server.hset(key, "x", "y"),
}

Damage = Callable[[Any], Any]


def run(engine: Any, *commands: c.Command[Any], now: float) -> None:
    for command in commands:
        engine.run(command, now=now)


def fill(engine: Any, victim: str) -> None:
    """Jobs a, b and s, a recurring one, and all that they are in; a is in the state that is tried."""
    run(engine, c.SetThrottle("th", 5), now=100.0)
    for jid, priority in (("a", 1.0), ("b", 0.0)):
        run(engine, c.Put("q", jid, "k", tags=("t",), throttles=("th",), priority=priority, retries=3), now=100.0)
    run(engine, c.Track("a"), c.Recur("q", "r", "k", "{}", 1000.0, 5.0), c.Put("q", "s", "k", delay=1.0), now=100.0)
    if victim != "waiting":
        run(engine, c.Pop("q", "w"), now=101.0)
    if victim == "failed":
        run(engine, c.Fail("a", "w", "g", "m"), now=101.0)
    if victim == "complete":
        run(engine, c.Complete("a", "w", "q"), now=101.0)


def damages(server: Any, key: str, kind: str) -> Iterator[tuple[str, Damage]]:
    """Everything that can be done to a key."""
    yield "gone", lambda server: server.delete(key)
    for other, write in WRITE.items():
        if other != kind:
            yield f"a {other}", lambda server, write=write: (server.delete(key), write(server, key))
    if kind == "hash":
        for field in server.hkeys(key):
            yield f"without {field}", lambda server, field=field: server.hdel(key, field)
            for value in VALUES:
                yield f"{field} {value[:9]!r}", lambda server, field=field, value=value: server.hset(key, field, value)
    if kind == "zset":
        for member in server.zrange(key, 0, -1):
            for score in SCORES:
                yield f"{member} {score}", lambda server, member=member, score=score: server.zadd(key, {member: score})
    if kind in ("list", "set", "zset"):
        yield "a stranger in it", lambda server: WRITE[kind](server, key)


def hurt(name: str, what: str) -> set[str]:
    """Whose flow a damage may stop: the job's own, and that of jobs whose place is lost until fsck finds it again."""
    own = {jid for jid in "abs" if name.startswith(f"j:{jid}")}
    if what == "gone" or what.startswith("a ") or what.endswith(" inf"):
        own |= {"q:q-work": {"a", "b", "s"}, "q:q-scheduled": {"s"}}.get(name, set())
    return own


def all_cases(kind: str, victim: str) -> Iterator[tuple[Any, str, str, Damage, Any]]:
    """Each damage to a queue that is filled anew for it, with an engine on it."""
    known: list[tuple[str, str]] = []
    with open_engine(SHARED.url(kind)) as engine, SHARED.get(kind).client() as server:  # type: ignore[attr-defined]
        space = engine.location.namespace
        fill(engine, victim)
        for raw in sorted(server.keys(f"{space}*")):
            name = raw.decode("utf-8").removeprefix(space)
            known += [(name, what) for what, _ in damages(server, space + name, server.type(raw).decode())]
        for name, what in known:
            server.flushall()
            fill(engine, victim)
            found = dict(damages(server, space + name, server.type(space + name).decode()))
            if what in found:
                yield engine, name, what, found[what], server


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["waiting", "running", "failed", "complete"])
def test_the_others_flow(victim: str) -> None:
    stopped = []
    for engine, name, what, damage, server in all_cases("valkey", victim):
        damage(server)
        given: set[str] = set()
        for now in (200.0, 215.0, 300.0, 320.0):
            given |= {job.jid for job in engine.run(c.Pop("q", "v", 10), now=now)}
        if not {"b", "s"} - hurt(name, what) <= given:
            stopped.append((name, what, given))
        for command in (*(c.Complete(jid, "v", "q") for jid in given), c.Cancel(("a", "b"))):
            with suppress(Refused):  # it is another's by now, or gone
                engine.run(command, now=400.0)
        run(engine, c.AllCounts(), c.Put("q", "z", "k"), now=401.0)
    SHARED.remove()
    assert stopped == []
