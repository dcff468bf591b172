"""Old clients, our client on the script and our client on functions share queues, and an old server with the old script."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from benchmarks.server.queues import old_script
from stanchion import App, Client, commands
from stanchion.client.open import open_engine
from stanchion.errors import LockLost
from stanchion.worker import Worker
from tests.script.clients import Place, make_place
from tests.servers import SHARED, binaries, old_binaries
from tests.worker.waiting import until

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")


class Work:
    """What a fleet's jobs are, as our workers know it."""

    @staticmethod
    def process(job: Any) -> None:
        job.complete()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = make_place(tmp_path_factory.mktemp("clients"))
    with place.imported():
        yield place


def empty(kind: str) -> str:
    """The URL of a server without anything in it."""
    with SHARED.get(kind).client() as client:
        client.flushall()
    return SHARED.get(kind).url


@pytest.mark.parametrize("kind", sorted(binaries()))
def test_workers_of_three_kinds_share_one_queue(kind: str, place: Place) -> None:
    url = empty(kind)
    urls = {"functions": url, "script": f"{url}?face=script"}
    old = place.client("qless", url, "old")
    jids = [old.queues["q"].put("fleet.Work", {}) for _ in range(60)]
    with ExitStack() as stack:
        for address in urls.values():
            client = stack.enter_context(closing(Client(address)))
            jids += [client.queues["q"].put("fleet.Work", {}) for _ in range(60)]
        apps = [stack.enter_context(closing(App(address))) for address in urls.values()]
        for app in apps:
            app.register(Work, name="fleet.Work")
        workers = [Worker(app, ["q"], name=name) for name, app in zip(urls, apps, strict=True)]
        threads = [threading.Thread(target=worker.run) for worker in workers]
        stack.enter_context(place.worker("qless", url, "old-worker", "q"))
        for thread in threads:
            thread.start()
        until(lambda: len(old.jobs.complete(0, 1000)) == 180)
        for worker in workers:
            worker.stop()
        for thread in threads:
            thread.join(30)
        done = [entry for jid in jids for entry in old.jobs[jid].history if entry["what"] in ("popped", "done")]
        assert len(done) == 360
        assert_sound(urls.values())
    old.redis.close()


@pytest.mark.parametrize("kind", sorted(binaries()))
def test_each_sees_the_locks_of_the_others(kind: str, place: Place) -> None:
    url = empty(kind)
    old = place.client("qless", url, "old")
    with closing(open_engine(url)) as functions, closing(open_engine(f"{url}?face=script")) as script:
        for jid in ("a", "b", "c"):
            old.queues["q"].put("k", {}, jid=jid)
        (first,) = functions.run(commands.Pop("q", "functions", 1))
        (second,) = script.run(commands.Pop("q", "script", 1))
        third = old.queues["q"].pop()
        assert sorted([first.jid, second.jid, third.jid]) == ["a", "b", "c"]
        assert sorted(one["name"] for one in old.workers.counts) == ["functions", "old", "script"]
        for engine, jid in ((functions, second.jid), (script, third.jid)):
            with pytest.raises(LockLost):
                engine.run(commands.Complete(jid, "thief", "q"))
        with pytest.raises(Exception, match="another worker"):
            old("complete", first.jid, "thief", "q", "{}")
        third.complete("next")
        functions.run(commands.Complete(first.jid, "functions", "q"))
        script.run(commands.Complete(second.jid, "script", "q"))
        assert old.queues["next"].pop().jid == third.jid
    assert_sound([url, f"{url}?face=script"])
    old.redis.close()


LEFT_BY_OLD = {"group-by-record", "unlisted-statistics", "failed-count"}
"""Old scripts know nothing of fields of ours, list no days that have statistics, and do not count down what they unfail."""


def assert_sound(urls: Any) -> None:
    for url in urls:
        with closing(open_engine(url)) as engine:
            assert engine.check() == []


class Old:
    """A client of the old script as it was."""

    name = "old"

    def __init__(self, server: Any) -> None:
        self._server = server
        self._script = server.register_script(old_script())

    def __call__(self, *args: Any) -> Any:
        name, *rest = args
        return self._script(args=[name, repr(time.time()), *rest])

    def put(self, jid: str, **options: Any) -> None:
        pairs = [part for name, value in options.items() if name != "delay" for part in (name, json.dumps(value))]
        self("put", "q", jid, "k", '{"n":1}', options.get("delay", 0), *pairs)

    def pop(self) -> list[str]:
        return [job["jid"] for job in json.loads(self("pop", "q", self.name, 100))]

    def complete(self, jid: str) -> None:
        self("complete", jid, self.name, "q", "{}")

    def fail(self, jid: str) -> None:
        self("fail", jid, self.name, "group", "message")

    def retry(self, jid: str) -> None:
        self("retry", jid, "q", self.name, 0)

    def cancel(self, jid: str) -> None:
        self("cancel", jid)

    def unfail(self) -> None:
        self("unfail", "q", "group", 100)

    def states(self, *jids: str) -> list[str]:
        return [job["state"] for job in json.loads(self("multiget", *jids))]


class Ours:
    """Our client on the script."""

    name = "ours"

    def __init__(self, url: str) -> None:
        self.engine = open_engine(f"{url}?face=script")

    def put(self, jid: str, **options: Any) -> None:
        self.engine.run(commands.Put("q", jid, "k", '{"n":1}', **options))

    def pop(self) -> list[str]:
        return [job.jid for job in self.engine.run(commands.Pop("q", self.name, 100))]

    def complete(self, jid: str) -> None:
        self.engine.run(commands.Complete(jid, self.name, "q"))

    def fail(self, jid: str) -> None:
        self.engine.run(commands.Fail(jid, self.name, "group", "message"))

    def retry(self, jid: str) -> None:
        self.engine.run(commands.Retry(jid, "q", self.name))

    def cancel(self, jid: str) -> None:
        self.engine.run(commands.Cancel([jid]))

    def unfail(self) -> None:
        self.engine.run(commands.Unfail("q", "group", 100))

    def states(self, *jids: str) -> list[str]:
        return [str(job.state) for job in self.engine.run(commands.MultiGet(jids))]


@pytest.mark.parametrize("first", ["old", "ours"])
@pytest.mark.parametrize("kind", sorted(old_binaries()))
def test_our_client_beside_the_old_script(kind: str, first: str) -> None:
    url = empty(kind)
    server = SHARED.get(kind).client()
    ours = Ours(url)
    pair = [Old(server), ours]
    giver, taker = pair if first == "old" else pair[::-1]
    giver.put("complete")
    giver.put("fail")
    giver.put("retry")
    giver.put("cancel")
    giver.put("late", delay=1000)
    giver.put("after", depends=["complete"])
    taker.cancel("cancel")
    assert sorted(taker.pop()) == ["complete", "fail", "retry"]
    assert giver.pop() == []
    taker.complete("complete")
    taker.fail("fail")
    taker.retry("retry")
    assert giver.states("complete", "fail", "retry", "late", "after") == [
        "complete",
        "failed",
        "waiting",
        "scheduled",
        "waiting",
    ]
    assert sorted(giver.pop()) == ["after", "retry"]
    giver.complete("after")
    giver.fail("retry")
    taker.unfail()
    assert sorted(giver.pop()) == ["fail", "retry"]
    giver.retry("fail")
    giver.complete("retry")
    assert taker.pop() == ["fail"]
    taker.complete("fail")
    taker.cancel("late")
    assert taker.states("complete", "fail", "retry", "after") == ["complete"] * 4
    found = {finding.code for finding in ours.engine.check()}
    ours.engine.check(fix=True)
    left = ours.engine.check()
    ours.engine.close()
    server.close()
    assert found <= LEFT_BY_OLD
    assert left == []


@pytest.mark.parametrize("kind", sorted(old_binaries()))
def test_a_job_that_failed_here_and_then_there_is_listed_once(kind: str) -> None:
    url = empty(kind)
    server = SHARED.get(kind).client()
    old, ours = Old(server), Ours(url)
    ours.put("a")
    ours.pop()
    ours.engine.run(commands.Fail("a", "ours", "first", "message"))
    old("unfail", "q", "first", 1)
    old.pop()
    old.fail("a")
    ours.unfail()
    failures = ours.engine.run(commands.FailureGroups())
    ours.engine.close()
    server.close()
    assert failures == {}
