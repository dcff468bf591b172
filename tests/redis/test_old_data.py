"""Jobs that the old scripts of Qless wrote are settled, moved and handed out like ours, as they are found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from stanchion import commands as c
from stanchion.client.open import open_engine
from tests.servers import SHARED
from tests.spec.rig import Rig

NOW = 1_700_000_000.0
DAY = int(NOW // 86400 * 86400)


@pytest.fixture
def url() -> Iterator[str]:
    yield SHARED.url("valkey")
    SHARED.remove()


@pytest.fixture
def q(url: str) -> Iterator[Rig]:
    engine = open_engine(url)
    yield Rig(engine)
    engine.close()


@pytest.fixture
def server(url: str) -> Iterator[Any]:
    with SHARED.get("valkey").client() as client:
        yield client


def write_job(server: Any, namespace: str, jid: str, state: str, **fields: Any) -> None:
    """A job as the old scripts write it: every field, and times of the last put or pop."""
    record = {
        **{"jid": jid, "klass": "k", "data": "{}", "priority": 0, "tags": "[]", "state": state, "worker": "", "expires": 0},
        **{"queue": "q", "retries": 5, "remaining": 5, "time": repr(NOW), "failure": "{}", "throttles": "[]"},
        **fields,
    }
    server.hset(f"{namespace}j:{jid}", mapping=record)
    server.rpush(f"{namespace}j:{jid}-history", json.dumps([int(NOW), "put", {"q": "q"}]))
    server.zadd(f"{namespace}queues", {"q": NOW})


def namespace_of(url: str) -> str:
    return url.rpartition("=")[2]


def test_a_waiting_job_is_popped_and_completed(q: Rig, server: Any, url: str) -> None:
    space = namespace_of(url)
    write_job(server, space, "a", "waiting")
    server.zadd(f"{space}q:q-work", {"a": -NOW / 1e10})
    server.rpush(f"{space}j:a-history", json.dumps([int(NOW), "noted"]))
    (job,) = q.pop_jobs(NOW + 5)
    assert [entry.what for entry in job.history] == ["put", "noted", "popped"]
    assert q.complete("a", NOW + 6) == "complete"
    assert q.stats(date=NOW).wait.mean == 5.0


def test_a_failed_job_leaves_its_group_and_the_days_count(q: Rig, server: Any, url: str) -> None:
    space = namespace_of(url)
    failure = {"group": "g", "message": "m", "when": int(NOW), "worker": "w"}
    write_job(server, space, "a", "failed", failure=json.dumps(failure))
    server.sadd(f"{space}failures", "g")
    server.lpush(f"{space}f:g", "a")
    server.hset(f"{space}s:stats:{DAY}:q", mapping={"failures": 1, "failed": 1})
    assert q.engine.run(c.Unfail("q", "g"), now=NOW + 5) == 1
    assert q.engine.run(c.FailureGroups(), now=NOW + 5) == {}
    assert q.stats(date=NOW).failed == 0
    assert q.pop(NOW + 6) == ["a"]


def test_a_job_timed_out_by_hand_is_the_first_of_the_line(q: Rig, server: Any, url: str) -> None:
    space = namespace_of(url)
    write_job(server, space, "a", "stalled")
    write_job(server, space, "b", "waiting", priority=9)
    server.execute_command("ZADD", f"{space}q:q-work", "+inf", "a", 9 - NOW / 1e10, "b")
    assert [job.jid for job in q.engine.run(c.Pop("q", "w", 2), now=NOW + 5)] == ["a", "b"]


def test_a_running_job_is_settled_by_its_worker(q: Rig, server: Any, url: str) -> None:
    space = namespace_of(url)
    write_job(server, space, "a", "running", worker="w", expires=repr(NOW + 60))
    server.zadd(f"{space}q:q-locks", {"a": NOW + 60})
    server.zadd(f"{space}w:w:jobs", {"a": NOW + 60})
    server.zadd(f"{space}workers", {"w": NOW})
    assert q.beat("a", NOW + 30) == NOW + 90
    assert q.retry("a", NOW + 31) == 4
    assert q.pop(NOW + 32) == ["a"]
