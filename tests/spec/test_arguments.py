"""Section 4: what every argument may be."""

from __future__ import annotations

import math
from typing import Any

import pytest

from stanchion import commands as c
from stanchion.errors import BadArgument
from tests.spec.rig import Rig, spec

GOOD: dict[type[c.Command[Any]], dict[str, Any]] = {
    c.Put: {"queue": "q", "jid": "a", "klass": "k"},
    c.Pop: {"queue": "q", "worker": "w"},
    c.Complete: {"jid": "a", "worker": "w", "queue": "q"},
    c.Retry: {"jid": "a", "queue": "q", "worker": "w"},
    c.Recur: {"queue": "q", "jid": "r", "klass": "k", "data": "{}", "interval": 1.0},
    c.SetThrottle: {"id": "t", "maximum": 1},
    c.SetConfig: {"option": "heartbeat", "value": 60},
    c.ListJobs: {"state": "running", "queue": "q"},
    c.Cancel: {"jids": ["a"]},
    c.Log: {"jid": "a", "message": "m"},
}

BAD = [
    (c.Put, "queue", ""),
    (c.Put, "jid", 5),
    (c.Put, "data", "{nope"),
    (c.Put, "data", "NaN"),
    (c.Put, "data", "[" * 600 + "]" * 600),
    (c.Put, "delay", -1),
    (c.Put, "delay", math.nan),
    (c.Put, "delay", "5"),
    (c.Put, "priority", math.inf),
    (c.Put, "priority", True),
    (c.Put, "retries", 1.5),
    (c.Put, "retries", -2),
    (c.Put, "tags", "abc"),
    (c.Put, "tags", [""]),
    (c.Put, "depends", [1]),
    (c.Put, "on_dependency_failure", "explode"),
    (c.Pop, "count", -1),
    (c.Pop, "count", 1.0),
    (c.Pop, "worker", ""),
    (c.Complete, "data", "'x'"),
    (c.Complete, "result", ""),
    (c.Complete, "attempt", -1),
    (c.Retry, "delay", -0.5),
    (c.Retry, "group", ""),
    (c.Recur, "interval", 0),
    (c.Recur, "interval", -1),
    (c.Recur, "offset", math.nan),
    (c.Recur, "backlog", -1),
    (c.SetThrottle, "maximum", -1),
    (c.SetThrottle, "expiration", math.inf),
    (c.SetConfig, "value", "soon"),
    (c.SetConfig, "value", math.nan),
    (c.SetConfig, "option", ""),
    (c.ListJobs, "state", "dreaming"),
    (c.Cancel, "jids", "abc"),
    (c.Log, "message", 3),
]


@spec("arguments.checked", "fault.20", "fault.26-zero")
@pytest.mark.parametrize(("command", "argument", "value"), BAD, ids=lambda value: str(value)[:30])
def test_a_bad_argument_is_named_before_anything_is_written(
    command: type[c.Command[Any]], argument: str, value: Any
) -> None:
    with pytest.raises(BadArgument) as caught:
        command(**{**GOOD[command], argument: value})
    assert caught.value.details["command"] == command.name
    assert caught.value.details["argument"] == argument


@spec("arguments.names")
@pytest.mark.parametrize("name", ["x" * 1024, "é" * 512, "a:b", "{}", "../x", "new\nline", "😀", " ", "'; DROP TABLE jobs"])
def test_odd_names_are_kept_as_they_are(q: Rig, name: str) -> None:
    q.put(name, queue=name, klass=name, tags=[name], throttles=[name])
    (job,) = q.pop_jobs(queue=name, worker=name)
    assert (job.jid, job.queue, job.klass, job.tags, job.throttles, job.worker) == (name, name, name, (name,), (name,), name)
    assert q.run(c.JobsOfWorker(name)).jobs == (name,)


@spec("arguments.names")
@pytest.mark.parametrize("name", ["", "x" * 1025, "é" * 513, "a\0b", "\ud800"])
def test_impossible_names_are_refused(name: str) -> None:
    for argument in ("queue", "jid", "klass"):
        with pytest.raises(BadArgument):
            c.Put(**{**GOOD[c.Put], argument: name})


@spec("arguments.size")
def test_the_size_of_data_is_limited(q: Rig) -> None:
    most = '"' + "x" * 999_998 + '"'
    q.put("a", data=most)
    assert q.job("a").data == most
    with pytest.raises(BadArgument, match="1000001 bytes"):
        c.Put("q", "a", "k", '"' + "x" * 999_999 + '"')
    with pytest.raises(BadArgument, match="bytes"):
        c.Put("q", "a", "k", '"' + "é" * 500_000 + '"')
