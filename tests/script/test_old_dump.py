"""What the real old scripts wrote, in every state, is opened and drained by ours: nothing is lost."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from benchmarks.server.queues import old_script
from stanchion import commands as c
from stanchion.client.open import open_engine
from stanchion.client.script import script_text
from stanchion.engine.contract import Engine
from tests.script.clients import SCRIPTS, package_folder
from tests.servers import SHARED, old_binaries

Call = Callable[..., Any]
NOW = time.time()

MENDED = {
    # their faults: miscounts, a lock listed at another time than its job's, retries below none, workers that keep what they lost
    *("failed-count", "wrong-time", "out-of-line", "remaining", "stray-worker", "missing-worker", "worker-by-state"),
    *("timed-out-in-line", "missing-throttle"),
    # what is ours alone, and they do not write
    *("group-by-record", "unlisted-statistics", "missing-entry", "throttle-list"),
}
"""What is found in old data, and mended."""

STATES = {
    "waiting": "waiting",
    "tagged": "waiting",
    "late": "scheduled",
    "after": "depends",
    "running": "running",
    "lapsed": "running",
    "stalled": "stalled",
    "failed": "failed",
    "retried": "failed",
    "complete": "complete",
    "oldest": "waiting",
}


def loadable(text: str) -> str:
    """A script that adds a function to a library's table, which servers no longer allow: that becomes a function of its own."""
    return text.replace("function table.extend(self, other)", "local table_extend = function(self, other)").replace(
        "table.extend(", "table_extend("
    )


def scripts() -> dict[str, str]:
    return {"qless": old_script(), "reqless": loadable((package_folder("reqless") / SCRIPTS["reqless"]).read_text())}


@pytest.fixture(params=sorted(old_binaries()))
def server(request: pytest.FixtureRequest) -> Iterator[Any]:
    with SHARED.get(request.param).client() as client:
        client.flushall()
        yield client


def write(server: Any, generation: str) -> None:
    """A job in every state, by a real old script."""
    script = server.register_script(scripts()[generation])

    def call(name: str, *args: Any, at: float = NOW) -> Any:
        return script(args=[name, repr(at), *args])

    def put(queue: str, jid: str, delay: float = 0, at: float = NOW, **options: Any) -> None:
        pairs = [part for key, value in options.items() for part in (key, json.dumps(value))]
        call("put", *(["w"] if generation == "reqless" else []), queue, jid, "k", '{"n":[1]}', delay, *pairs, at=at)

    def popped(jid: str, at: float = NOW, **options: Any) -> None:
        put("work", jid, at=at, **options)
        call("pop", "work", "w", 1, at=at)

    popped("lapsed", at=NOW - 1000)
    popped("complete")
    call("complete", "complete", "w", "work", "{}")
    popped("failed")
    call("fail", "failed", "w", "group", "message", "{}")
    popped("retried", retries=0)
    call("retry", "retried", "work", "w", 0)
    popped("stalled")
    call("timeout", "stalled")
    put("q", "waiting")
    put("q", "tagged", tags=["x", "y"])
    call("track", "track", "waiting")
    put("q", "late", 1000)
    put("q", "after", depends=["waiting"])
    put("one", "running")
    call("pop", "one", "w", 1)
    call("log", "running", "a word", "{}")
    call("recur", "r", "rec", "k", "{}", "interval", 60, 1000)
    put("q", "oldest")
    entry = {"put": int(NOW), "popped": int(NOW), "q": "q", "worker": "w"}
    server.hset("ql:j:oldest", "history", json.dumps([entry]))
    server.delete("ql:j:oldest-history")
    if generation == "reqless":
        call("throttle.set", "t", 1)
        for age, jid in enumerate(("throttled", "holding")):
            put("thr", jid, at=NOW - age, throttles=["t"])
        call("pop", "thr", "w", 2)


def jobs_of(generation: str) -> dict[str, str]:
    more = {"holding": "running", "throttled": "throttled"} if generation == "reqless" else {}
    return STATES | more


@pytest.mark.parametrize("generation", sorted(SCRIPTS))
def test_every_state_is_opened_mended_and_drained(server: Any, generation: str) -> None:
    write(server, generation)
    port = server.connection_pool.connection_kwargs["port"]
    with closing(open_engine(f"redis://127.0.0.1:{port}?face=script")) as engine:
        expected = jobs_of(generation)
        jobs = {job.jid: job for job in engine.run(c.MultiGet(list(expected)))}
        assert {jid: str(job.state) for jid, job in jobs.items()} == expected
        assert jobs["tagged"].tags == ("x", "y")
        assert [entry.what for entry in jobs["oldest"].history][:2] == ["put", "popped"]
        assert engine.run(c.GetRecurring("rec")) is not None
        found = {finding.code for finding in engine.check()}
        assert found <= MENDED
        engine.check(fix=True)
        assert engine.check() == []
        drain(engine)
        assert engine.check() == []
        after = {job.jid: str(job.state) for job in engine.run(c.MultiGet(list(expected)))}
        assert after == dict.fromkeys(expected, "complete")
        assert engine.run(c.Get("rec-1")) is not None


@pytest.mark.parametrize("generation", sorted(SCRIPTS))
def test_the_script_shows_every_job(server: Any, generation: str) -> None:
    write(server, generation)
    script = server.register_script(script_text())
    expected = jobs_of(generation)
    jobs = json.loads(script(args=["multiget", repr(NOW), *expected]))
    assert {job["jid"]: job["state"] for job in jobs} == expected


def drain(engine: Engine) -> None:
    """Unfail what failed, and complete all that is or becomes due, long after every lock has lapsed."""
    for group in ("group", "failed-retries-work"):
        engine.run(c.Unfail("q", group), now=NOW)
    now = NOW + 2000
    for _ in range(6):
        for queue in ("work", "q", "one", "thr", "r"):
            for job in engine.run(c.Pop(queue, "ours", 100), now=now):
                engine.run(c.Complete(job.jid, "ours", queue), now=now)
        now += 200
