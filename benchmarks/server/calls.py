"""What each call of an old client costs a server: the old script, and the one that takes its place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.server.queues import DATA

Call = tuple[Any, ...]
"""A command and its arguments, without the time."""

START, STEP = 1_000_000.0, 0.01
"""Each call comes so many seconds after the one before."""


class Stage(NamedTuple):
    """Calls of one kind. Stages build on what those before have left."""

    title: str
    calls: Sequence[Call]


def stages(count: int) -> Iterator[Stage]:
    """The calls of the older dialect, about so many of each kind."""
    half, few = count // 2, max(1, count // 10)
    jobs, later = [f"job-{n}" for n in range(count)], [f"later-{n}" for n in range(count)]
    waiting = [f"waits-{n}" for n in range(count)]

    def same(*call: Any) -> list[Call]:
        return [call] * count

    yield Stage("put", [("put", "q", jid, "k", DATA, 0) for jid in jobs])
    yield Stage("put, delayed", [("put", "q", jid, "k", DATA, 1e6, "priority", 3, "tags", '["a"]') for jid in later])
    yield Stage("get", [("get", jid) for jid in jobs])
    yield Stage("multiget, 10", [("multiget", *jobs[:10])] * few)
    yield Stage("peek, 10", [("peek", "q", 10)] * few)
    yield Stage("length", same("length", "q"))
    yield Stage("queues, one", same("queues", "q"))
    yield Stage("pop", same("pop", "q", "w", 1))
    yield Stage("pop, nothing there", same("pop", "none", "w", 1))
    yield Stage("heartbeat", [("heartbeat", jid, "w") for jid in jobs])
    yield Stage("workers", same("workers"))
    yield Stage("jobs", same("jobs", "running", "q", 0, 25))
    yield Stage("log", [("log", jid, "hello") for jid in jobs])
    yield Stage("track", [("track", "track", jid) for jid in jobs[half:]])
    yield Stage("untrack", [("track", "untrack", jid) for jid in jobs[half:]])
    yield Stage("complete", [("complete", jid, "w", "q", DATA) for jid in jobs[:half]])
    yield Stage("complete, next", [("complete", jid, "w", "q", DATA, "next", "q2") for jid in jobs[half:]])
    yield Stage("pop, 10", [("pop", "q2", "w", 10)] * (half // 10))
    yield Stage("fail", [("fail", jid, "w", "g", "m") for jid in jobs[half : half + half // 2]])
    yield Stage("retry", [("retry", jid, "q2", "w", 0) for jid in jobs[half + half // 2 :][: half // 4]])
    yield Stage("failed", same("failed"))
    yield Stage("unfail, 5", [("unfail", "q2", "g", 5)] * max(1, half // 20))
    yield Stage("tag add", [("tag", "add", jid, "x") for jid in later])
    yield Stage("tag get", same("tag", "get", "x", 0, 25))
    yield Stage("tag remove", [("tag", "remove", jid, "x") for jid in later])
    yield Stage("priority", [("priority", jid, 5) for jid in later])
    yield Stage(
        "put, depends",
        [("put", "q", jid, "k", DATA, 0, "depends", json.dumps([on])) for jid, on in zip(waiting, later, strict=True)],
    )
    yield Stage("depends off", [("depends", jid, "off", "all") for jid in waiting])
    yield Stage("put again", [("put", "q3", jid, "k", DATA, 0) for jid in later])
    yield Stage("cancel", [("cancel", jid) for jid in waiting])
    yield Stage("recur", [("recur", "q4", f"r{n}", "k", DATA, "interval", 1e6, 1e6) for n in range(count)])
    yield Stage("recur.get", [("recur.get", f"r{n}") for n in range(count)])
    yield Stage("unrecur", [("unrecur", f"r{n}") for n in range(count)])
    yield Stage("config.get", same("config.get"))
    yield Stage("config.set", same("config.set", "a", "b"))
    yield Stage("stats", same("stats", "q", START))
    yield Stage("pause", same("pause", "q"))
    yield Stage("unpause", same("unpause", "q"))


def costs(server: Any, script: str, count: int) -> dict[str, float]:
    """The server's microseconds for a call, by its own count, of each kind; on an empty server."""
    server.flushall()
    digest, now, found = server.script_load(script), START, {}
    for stage in stages(count):
        server.config_resetstat()
        for command, *arguments in stage.calls:
            now += STEP
            server.evalsha(digest, 0, command, now, *arguments)
        spent = server.info("commandstats")["cmdstat_evalsha"]
        found[stage.title] = spent["usec"] / spent["calls"]
    return found
