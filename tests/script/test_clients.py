"""The real clients do all that they can with our script in place of theirs, on every server."""

from __future__ import annotations

import importlib
import json
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import pytest

from stanchion.client.open import open_engine
from tests.script.clients import SCRIPTS, Place, make_place
from tests.script.face import KINDS
from tests.servers import SHARED
from tests.worker.waiting import until

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")


class Fleet(NamedTuple):
    """A client of a package on an empty server, and another worker's."""

    name: str
    url: str
    place: Place
    client: Any
    other: Any

    @property
    def refused(self) -> Any:
        exceptions = importlib.import_module(f"{self.name}.exceptions")
        return exceptions.QlessException if self.name == "qless" else exceptions.ReqlessError

    @property
    def lost(self) -> Any:
        exceptions = importlib.import_module(f"{self.name}.exceptions")
        return exceptions.LostLockException if self.name == "qless" else exceptions.LostLockError

    def data(self, value: Any) -> Any:
        """As its jobs have it: one of them leaves JSON to its caller."""
        return value if self.name == "qless" else json.dumps(value)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = make_place(tmp_path_factory.mktemp("clients"))
    with place.imported():
        yield place


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest) -> str:
    server = SHARED.get(request.param)
    with server.client() as client:
        client.flushall()
    return server.url


@pytest.fixture(params=sorted(SCRIPTS))
def fleet(request: pytest.FixtureRequest, url: str, place: Place) -> Iterator[Fleet]:
    clients = [place.client(request.param, url, worker) for worker in ("here", "there")]
    yield Fleet(request.param, url, place, *clients)
    for client in clients:
        client.redis.close()
    with closing(open_engine(f"{url}?face=script")) as engine:
        assert engine.check() == []


def test_a_job_is_put_popped_and_completed(fleet: Fleet) -> None:
    queue = fleet.client.queues["q"]
    jid = queue.put("a.Klass", fleet.data({"n": [1, {}, []]}), priority=3, tags=["x"], retries=4)
    assert (queue.peek().jid, len(queue)) == (jid, 1)
    job = queue.pop()
    assert (job.jid, job.state, job.klass_name, job.worker_name) == (jid, "running", "a.Klass", "here")
    assert (job.priority, job.tags, job.original_retries, job.retries_left) == (3, ["x"], 4, 4)
    assert 50 < job.ttl <= 60
    assert job.heartbeat() >= job.expires_at - 1
    assert job.complete() == "complete"
    assert (fleet.client.jobs[jid].state, fleet.client.jobs.complete()) == ("complete", [jid])
    assert [entry["what"] for entry in fleet.client.jobs[jid].history] == ["put", "popped", "done"]
    assert (queue.pop(), queue.pop(10), fleet.client.jobs["unknown"]) == (None, [], None)


def test_many_are_popped_best_first(fleet: Fleet) -> None:
    queue = fleet.client.queues["q"]
    for number in range(5):
        queue.put("k", fleet.data({}), priority=number, jid=f"j{number}")
    assert [job.jid for job in queue.peek(count=2)] == ["j4", "j3"]
    assert [job.jid for job in queue.pop(9)] == ["j4", "j3", "j2", "j1", "j0"]


def test_a_job_advances_with_delay_and_with_dependencies(fleet: Fleet) -> None:
    client = fleet.client
    client.queues["q"].put("k", fleet.data({}), jid="a")
    client.queues["q"].put("k", fleet.data({}), jid="b")
    client.queues["late"].put("k", fleet.data({}), jid="c")
    first, second = client.queues["q"].pop(2)
    assert first.complete("later", delay=100) in ("scheduled", True)
    assert second.complete("later", depends=["c"]) in ("depends", True)
    assert client.queues["later"].jobs.scheduled() == ["a"]
    assert client.queues["later"].jobs.depends() == ["b"]
    client.queues["late"].pop().complete()
    assert client.queues["later"].pop().jid == "b"


def test_failed_jobs_are_listed_and_unfailed(fleet: Fleet) -> None:
    client = fleet.client
    for jid in ("a", "b"):
        client.queues["q"].put("k", fleet.data({"n": 1}), jid=jid)
    for job in client.queues["q"].pop(2):
        job.data = fleet.data({"n": 1, "more": 2})
        job.fail("group", "message")
    assert client.jobs.failed() == {"group": 2}
    listed = client.jobs.failed("group")
    assert (listed["total"], [job.jid for job in listed["jobs"]]) == (2, ["b", "a"])
    failure = client.jobs["a"].failure
    assert (failure["group"], failure["message"], failure["worker"]) == ("group", "message", "here")
    assert client.jobs["a"].data == fleet.data({"n": 1, "more": 2})
    assert client.unfail("group", "again") == 2
    assert (len(client.queues["again"]), client.jobs.failed()) == (2, {})


def test_retries_are_counted_until_the_job_fails(fleet: Fleet) -> None:
    queue = fleet.client.queues["q"]
    queue.put("k", fleet.data({}), jid="a", retries=1)
    assert queue.pop().retry() == 0
    assert queue.pop().retry(100) == -1
    job = fleet.client.jobs["a"]
    assert (job.state, job.failure["group"]) == ("failed", "failed-retries-q")
    queue.put("k", fleet.data({}), jid="b")
    queue.pop().retry(100, "why", "because")
    assert (queue.jobs.scheduled(), fleet.client.jobs["b"].failure["group"]) == (["b"], "why")


def test_a_lost_lock_is_told_by_each_call(fleet: Fleet) -> None:
    fleet.client.queues["q"].put("k", fleet.data({}), jid="a")
    job = fleet.client.queues["q"].pop()
    job.timeout()
    assert fleet.client.queues["q"].jobs.stalled() in ([], ["a"])
    assert fleet.other.queues["q"].pop().jid == "a"
    with pytest.raises(fleet.lost):
        job.heartbeat()
    with pytest.raises(fleet.refused, match="another worker"):
        job.complete()
    with pytest.raises(fleet.refused, match="another worker"):
        job.fail("group", "message")
    with pytest.raises(fleet.refused, match="another worker"):
        job.retry()
    assert fleet.client.jobs["a"].worker_name == "there"


def test_moving_and_canceling(fleet: Fleet) -> None:
    client = fleet.client
    client.queues["q"].put("k", fleet.data({"n": 1}), jid="a")
    assert client.jobs["a"].move("other", delay=50) == "a"
    assert (client.jobs["a"].queue_name, client.jobs["a"].state) == ("other", "scheduled")
    client.queues["q"].put("k", fleet.data({}), jid="b", depends=["a"])
    with pytest.raises(fleet.refused, match="is a dependency of b but is not mentioned to be canceled"):
        client.jobs["a"].cancel()
    client.jobs["b"].cancel()
    client.jobs["a"].cancel()
    assert (client.jobs["a"], client.jobs["b"]) == (None, None)
    with pytest.raises(fleet.refused, match="does not exist"):
        client("complete", "a", "here", "q", "{}")


def test_dependencies_come_and_go(fleet: Fleet) -> None:
    client = fleet.client
    for jid in ("a", "b", "c"):
        client.queues["q"].put("k", fleet.data({}), jid=jid)
    client.queues["d"].put("k", fleet.data({}), jid="d", depends=["a"])
    job = client.jobs["d"]
    assert (job.state, job.dependencies, client.jobs["a"].dependents) == ("depends", ["a"], ["d"])
    assert job.depend("b", "c")
    assert client.jobs["d"].dependencies == ["a", "b", "c"]
    assert job.undepend("a")
    assert client.jobs["d"].dependencies == ["b", "c"]
    assert job.undepend(all=True)
    assert (client.jobs["d"].state, client.queues["d"].pop().jid) == ("waiting", "d")
    with pytest.raises(fleet.refused, match="not in the depends state"):
        job.depend("a")


def test_recurring_jobs_spawn_and_change(fleet: Fleet) -> None:
    client = fleet.client
    client.queues["q"].recur("k", fleet.data({"n": 1}), interval=60, jid="r", priority=2, tags=["x"], retries=3)
    spawned = client.queues["q"].pop()
    assert (spawned.jid, spawned.data, spawned.tags, spawned.priority) == ("r-1", fleet.data({"n": 1}), ["x"], 2)
    recurring = client.jobs["r"]
    assert (recurring.interval, recurring.retries, recurring.count) == (60, 3, 1)
    recurring.interval, recurring.priority, recurring.retries = 120, 5, 7
    recurring.tag("y")
    recurring.untag("x")
    recurring.move("other")
    again = client.jobs["r"]
    assert (again.interval, again.priority, again.retries, again.tags) == (120, 5, 7, ["y"])
    assert (again.queue_name, client.queues["other"].jobs.recurring()) == ("other", ["r"])
    assert again.next > 0
    again.cancel()
    assert client.jobs["r"] is None


def test_tags(fleet: Fleet) -> None:
    client = fleet.client
    for jid in ("a", "b"):
        client.queues["q"].put("k", fleet.data({}), jid=jid, tags=["x"])
    client.jobs["a"].tag("y", "z")
    client.jobs["a"].untag("z")
    assert (client.jobs["a"].tags, client.jobs.tagged("x")["total"]) == (["x", "y"], 2)
    assert (client.jobs.tagged("y"), client.tags()) == ({"total": 1, "jobs": ["a"]}, ["x"])


def test_priority_and_log(fleet: Fleet) -> None:
    client = fleet.client
    client.queues["q"].put("k", fleet.data({}), jid="a")
    client.queues["q"].put("k", fleet.data({}), jid="b")
    client.jobs["b"].priority = 9
    client("log", "b", "a word", json.dumps({"n": 1}))
    job = client.queues["q"].pop()
    assert (job.jid, job.priority) == ("b", 9)
    assert next(entry for entry in job.history if entry["what"] == "a word")["n"] == 1


def test_counts_workers_stats_and_pausing(fleet: Fleet) -> None:
    client, queue = fleet.client, fleet.client.queues["q"]
    for jid in ("a", "b"):
        queue.put("k", fleet.data({}), jid=jid)
    queue.put("k", fleet.data({}), jid="c", delay=100)
    queue.put("k", fleet.data({}), jid="d", depends=["a"])
    queue.pop()
    counts = {key: queue.counts[key] for key in ("running", "waiting", "scheduled", "depends", "stalled", "recurring")}
    assert counts == {"running": 1, "waiting": 1, "scheduled": 1, "depends": 1, "stalled": 0, "recurring": 0}
    assert [one["name"] for one in client.queues.counts] == ["q"]
    assert client.workers.counts == [{"name": "here", "jobs": 1, "stalled": 0}]
    assert client.workers["here"] == {"jobs": ["a"], "stalled": []}
    stats = queue.stats()
    assert (stats["wait"]["count"], stats["run"]["count"], len(stats["wait"]["histogram"])) == (1, 0, 148)
    queue.pause()
    assert (queue.pop(), bool(queue.counts["paused"])) == (None, True)
    queue.unpause()
    assert queue.pop().jid == "b"


def test_configuration(fleet: Fleet) -> None:
    config = fleet.client.config
    assert int(config.all["heartbeat"]) == 60
    config["heartbeat"] = 30
    fleet.client.queues["q"].heartbeat = 20
    assert (int(config["heartbeat"]), fleet.client.queues["q"].heartbeat) == (30, 20)
    fleet.client.queues["q"].put("k", fleet.data({}))
    assert 10 < fleet.client.queues["q"].pop().ttl <= 20
    del config["heartbeat"]
    assert int(config["heartbeat"]) == 60


def test_tracked_jobs_tell_what_happens_to_them(fleet: Fleet) -> None:
    client = fleet.client
    heard: list[tuple[str, str]] = []
    events = fleet.other.events
    for event in ("put", "popped", "completed", "failed", "canceled", "track", "untrack"):
        events.on(event, lambda jid, event=event: heard.append((event, jid)))
    ear = threading.Thread(target=events.listen)
    ear.start()
    until(lambda: client.redis.pubsub_numsub("ql:track")[0][1])
    queue = client.queues["q"]
    queue.put("k", fleet.data({}), jid="a")
    assert client.track("a")
    assert [job.jid for job in client.jobs.tracked()["jobs"]] == ["a"]
    queue.pop().fail("group", "message")
    queue.put("k", fleet.data({}), jid="a")
    queue.pop().complete()
    assert client.jobs["a"].tracked
    assert client.jobs["a"].untrack()
    until(lambda: ("untrack", "a") in heard)
    events.unlisten()
    ear.join(20)
    assert [event for event, _ in heard] == ["track", "popped", "failed", "put", "popped", "completed", "untrack"]


@pytest.mark.parametrize("fleet", ["reqless"], indirect=True)
def test_throttles_hold_jobs_back(fleet: Fleet) -> None:
    client = fleet.client
    client.throttles["t"].set_maximum(1)
    for jid in ("a", "b"):
        client.queues["q"].put("k", fleet.data({}), jid=jid, throttles=["t"])
    assert [job.jid for job in client.queues["q"].pop(2)] == ["a"]
    assert (client.throttles["t"].maximum(), client.queues["q"].counts["throttled"]) == (1, 1)
    assert json.loads(client.throttles["t"].locks()) == ["a"]
    assert json.loads(client.throttles["t"].pending()) == ["b"]
    assert client.jobs["b"].throttles == ["t"]
    client.jobs["a"].complete()
    assert client.queues["q"].pop().jid == "b"
    client.queues["q"].throttle.set_maximum(5, 100)
    assert 90 < client.queues["q"].throttle.ttl() <= 100
    client.throttles["t"].delete()
    assert client.throttles["t"].maximum() == 0


def test_their_own_worker_performs_jobs(fleet: Fleet) -> None:
    queue = fleet.client.queues["q"]
    jids = [queue.put("fleet.Work", fleet.data({"n": number})) for number in range(5)]
    with fleet.place.worker(fleet.name, fleet.url, "worker", "q", "raising") as worker:
        until(lambda: len(fleet.client.jobs.complete()) == 5)
        bad = fleet.client.queues["raising"].put("fleet.Work", fleet.data({}))
        until(lambda: fleet.client.jobs[bad].state == "failed")
        worker.send_signal(signal.SIGQUIT)
        queue.put("fleet.Work", fleet.data({}), jid="last")
        until(lambda: worker.poll() is not None)
    assert worker.returncode == 0
    assert fleet.client.jobs[bad].failure["group"] == "raising-KeyError"
    for jid in jids:
        job = fleet.client.jobs[jid]
        assert (job.data, [entry["what"] for entry in job.history]) == (fleet.data("done"), ["put", "popped", "done"])
