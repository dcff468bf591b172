"""The longest that a server is busy with one call, while a queue is as large as it gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from stanchion import commands as c
from stanchion.engine.contract import Engine

AT_ONCE = 200
"""Jobs in one bulk call: its length is the caller's choice, so it is kept small here."""

ENTRIES = 10_000


def longest_calls(server: Any, engine: Engine, jobs: int, dependents: int) -> Iterator[tuple[str, str, float]]:
    """What was done, the function that took longest, and its milliseconds."""
    server.config_set("slowlog-log-slower-than", 1000)
    server.config_set("slowlog-max-len", ENTRIES)
    for title, work in _works(engine, jobs, dependents):
        server.slowlog_reset()
        work()
        yield title, *_worst(server)


def _works(engine: Engine, jobs: int, dependents: int) -> Iterator[tuple[str, Callable[[], object]]]:
    yield f"{jobs:,} puts, {AT_ONCE} at once", lambda: _put(engine, "q", jobs)
    yield "ordinary lives among them", lambda: _lives(engine, 300)
    yield f"{jobs // 2:,} completions, {AT_ONCE} at once", lambda: _complete(engine, jobs // 2)
    yield "looking: counts, pages, peeks, workers", lambda: _look(engine, jobs)
    engine.run(c.SetConfig("jobs-history", 0))
    yield "retention of all that is complete", lambda: _lives(engine, 300)
    for policy in ("wait", "fail"):
        root = f"root-{policy}"
        engine.run(c.Put("roots", root, "k"))
        _put(engine, policy, dependents, depends=(root,), on_dependency_failure=policy)
        engine.run(c.Pop("roots", "w"))
        done = c.Complete(root, "w", "roots") if policy == "wait" else c.Fail(root, "w", "g", "m")
        yield f"{done.name}, with {dependents:,} dependents", lambda done=done: engine.run(done)
        yield "the pops that tell the rest of them", lambda policy=policy: _tell_all(engine, policy)
    engine.run(c.SetThrottle("th", 1))
    _put(engine, "throttled", dependents // 4, throttles=("th",))
    yield f"lives among {dependents // 4:,} jobs that a throttle holds back", lambda: _lives(engine, 100, "throttled")
    yield "deleting that limit", lambda: engine.run(c.DeleteThrottle("th"))
    _put(engine, "scheduled", dependents // 4, delay=0.001)
    yield f"pops of {dependents // 4:,} jobs that come due at once", lambda: _lives(engine, 100, "scheduled")
    engine.run(c.Recur("recurring", "r", "k", "{}", 0.001, -1e6))
    yield "a recurring job that missed a billion times", lambda: _lives(engine, 20, "recurring")


def _put(engine: Engine, queue: str, count: int, **options: Any) -> None:
    for start in range(0, count, AT_ONCE):
        jids = [f"{queue}-{number}" for number in range(start, min(count, start + AT_ONCE))]
        engine.run(c.PutMany([c.Put(queue, jid, "k", priority=float(hash(jid) % 3), **options) for jid in jids]))


def _lives(engine: Engine, count: int, queue: str = "q") -> None:
    for number in range(count):
        for job in engine.run(c.Pop(queue, "w")):
            endings = (c.Complete(job.jid, "w", queue), c.Fail(job.jid, "w", "g", "m"), c.Retry(job.jid, queue, "w"))
            engine.run(endings[number % 3])


def _complete(engine: Engine, count: int) -> None:
    for _ in range(0, count, AT_ONCE):
        jobs = engine.run(c.Pop("q", "w", AT_ONCE))
        engine.run(c.CompleteMany([c.Complete(job.jid, "w", "q") for job in jobs]))


def _look(engine: Engine, jobs: int) -> None:
    for command in (
        *(c.AllCounts(), c.Counts("q"), c.Length("q"), c.ListJobs("waiting", "q"), c.ListJobs("waiting", "q", jobs // 4)),
        *(c.ListJobs("complete"), c.ListJobs("complete", None, jobs // 4), c.Peek("q", 25), c.Stats("q"), c.AllWorkers()),
        *(c.FailureGroups(), c.Failed("g"), c.TopTags(), c.AllThrottles()),
    ):
        engine.run(command)


def _tell_all(engine: Engine, queue: str) -> None:
    while engine.run(c.Counts(queue)).depends:
        engine.run(c.Pop("roots", "w"))


def _worst(server: Any) -> tuple[str, float]:
    calls = [(entry["duration"] / 1000, entry["command"].split()) for entry in server.slowlog_get(ENTRIES)]
    ours = [(duration, words[1].decode()) for duration, words in calls if words[0].startswith(b"FCALL")]
    longest, function = max(ours, default=(0.0, "none above a millisecond"))
    return function.removeprefix("stanchion_v1_"), longest
