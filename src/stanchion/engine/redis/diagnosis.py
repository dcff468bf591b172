"""What a server is like, for ``stanchion doctor``: a conversation that asks it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from statistics import mean, median, quantiles
from typing import Any

from stanchion.engine.contract import Advice, Diagnosis
from stanchion.engine.redis import startup
from stanchion.engine.redis.layout import found_at
from stanchion.engine.redis.library import VERSION
from stanchion.engine.redis.snapshot import Talk, scan, text_of
from stanchion.engine.redis.url import Location

PINGS = 100
SAMPLE = 20
"""Keys of each kind of which the memory is asked."""

SLOW = 0.05
"""Seconds that a ping takes at most, but for one in a hundred."""

CLOCKS_APART = 5.0
FULL = 0.8

_TO_KNOW = ("fsync-everysec", "policy-unknown")
"""Concerns with which nothing is wrong."""


def diagnose(location: Location) -> Talk[Diagnosis]:
    """The facts, and what follows from them."""
    answers = yield list(startup.QUESTIONS)
    server = startup.facts_of(answers)
    info = yield from _info()
    latencies, offset = yield from _times()
    library = yield from _library(location)
    memory = yield from _memory(location.namespace)
    facts: dict[str, Any] = {
        "server": f"{server.product} {server.version}",
        "role": info.get("role", "?"),
        "eviction policy": server.policy or info.get("maxmemory_policy", "?"),
        "append-only file": _yes(server.appends)
        + (f", appendfsync {server.fsync}" if server.appends and server.fsync else ""),
        "snapshots": _yes(server.saves),
        "ping, half within": f"{median(latencies) * 1000:.2f} ms",
        "ping, 99 % within": f"{_p99(latencies) * 1000:.2f} ms",
        "clock, ahead of this machine's": f"{offset:+.3f} s",
        "function library": "not loaded yet" if library is None else f"{library} (this program's: {VERSION})",
        "memory used": _bytes(info.get("used_memory")),
        "memory limit": _bytes(info.get("maxmemory")) if info.get("maxmemory", "0") != "0" else "none",
        **memory,
    }
    return Diagnosis(
        facts, (*_of_server(server, location), *_of_info(info), *_of_times(latencies, offset), *_of_library(library))
    )


def _info() -> Talk[dict[str, str]]:
    replies = yield [("INFO", section) for section in ("memory", "persistence", "replication", "stats")]
    lines = [line for reply in replies if isinstance(reply, bytes) for line in reply.decode().splitlines()]
    return dict(line.split(":", 1) for line in lines if ":" in line)


def _times() -> Talk[tuple[list[float], float]]:
    latencies = []
    for _ in range(PINGS):
        start = time.perf_counter()
        yield [("PING",)]
        latencies.append(time.perf_counter() - start)
    before = time.time()
    ((seconds, microseconds),) = yield [("TIME",)]
    return latencies, int(seconds) + int(microseconds) / 1e6 - (before + time.time()) / 2


def _library(location: Location) -> Talk[int | None]:
    (reply,) = yield [location.face.question(location.namespace)]
    return None if isinstance(reply, Exception) else location.face.version(reply) or None


def _memory(namespace: str) -> Talk[dict[str, str]]:
    """About how much memory the keys of each kind take, the largest first: some of them are asked."""
    kinds: dict[str, list[bytes]] = defaultdict(list)
    for keys in (yield from scan(namespace)):
        for key in keys:
            kinds[_kind(text_of(key).removeprefix(namespace))].append(key)
    found = {}
    for kind, keys in kinds.items():
        replies = yield [("MEMORY", "USAGE", key) for key in keys[:: max(1, len(keys) // SAMPLE)][:SAMPLE]]
        sizes = [reply for reply in replies if isinstance(reply, int)]
        if sizes:
            found[kind] = (int(mean(sizes) * len(keys)), len(keys))
    largest = sorted(found.items(), key=lambda one: -one[1][0])
    return {f"memory of {kind}": f"about {_bytes(size)} in {count} keys" for kind, (size, count) in largest}


def _kind(name: str) -> str:
    """What a key is for, by its name alone."""
    found = found_at(name, "")
    return found.kind if found else ":".join(name.split(":")[:2]) if name.startswith("x:") else "other keys"


def _of_server(server: startup.Facts, location: Location) -> Iterator[Advice]:
    refusal = startup.refusal(server, location)
    if refusal is not None:
        yield Advice(refusal.code, str(refusal), "change that first: the queue refuses to use this server")
    for concern in startup.concerns(server):
        yield Advice(concern.code, concern.message, concern.remedy, wrong=concern.code not in _TO_KNOW)


def _of_info(info: Mapping[str, str]) -> Iterator[Advice]:
    if info.get("role") == "slave":
        yield Advice("replica", "this is a replica: it takes no writes", "name the primary in the URL, or its sentinels")
    for status in ("aof_last_write_status", "rdb_last_bgsave_status", "aof_last_bgrewrite_status"):
        if info.get(status, "ok") != "ok":
            yield Advice(
                "not-saved", f"the server could not write to its disk ({status}: {info[status]})", "look at its log"
            )
    if int(info.get("evicted_keys", 0)) > 0:
        message = f"the server has thrown {info['evicted_keys']} keys away since it started"
        yield Advice("evicted", message, "set maxmemory-policy noeviction, then run stanchion fsck --repair")
    used, limit = int(info.get("used_memory", 0)), int(info.get("maxmemory", 0))
    if limit and used > FULL * limit:
        message = f"{used / limit:.0%} of the memory limit is used: beyond it, puts are refused"
        yield Advice("memory-nearly-full", message, "raise maxmemory, or lower jobs-history and jobs-history-count")


def _of_times(latencies: list[float], offset: float) -> Iterator[Advice]:
    if _p99(latencies) > SLOW:
        message = f"one ping in a hundred takes more than {_p99(latencies) * 1000:.0f} ms"
        yield Advice("slow", message, "look at the network, at SLOWLOG GET, and at LATENCY DOCTOR")
    if abs(offset) > CLOCKS_APART:
        message = f"the server's clock is {offset:+.0f} s from this machine's"
        yield Advice("clocks-apart", message, "let NTP set both: the server's is the queue's time")


def _of_library(library: int | None) -> Iterator[Advice]:
    if library is not None and library > VERSION:
        message = f"the server's function library ({library}) is newer than this program's ({VERSION})"
        yield Advice("newer-library", message, "upgrade this program", wrong=False)


def _p99(latencies: list[float]) -> float:
    return quantiles(latencies, n=100)[-1]


def _yes(answer: bool | None) -> str:
    return "not known" if answer is None else "yes" if answer else "no"


def _bytes(number: object) -> str:
    return f"{int(str(number or 0)):,} bytes"
