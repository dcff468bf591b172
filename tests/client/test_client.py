"""The facade, for callers that block; the one for callers that await is the text it is generated from."""

from __future__ import annotations

import dataclasses
import datetime
import math
import runpy
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pydantic
import pytest

from stanchion import AsyncClient, Client, RawJSON
from stanchion import commands as c
from stanchion.errors import BadArgument, BadURL, JobNotRunning, LockLost, StoreClosed

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(f"sqlite:///{tmp_path}/jobs.db?durability=fast") as client:
        yield client


def test_a_job_through_its_life(client: Client) -> None:
    mail = client.queues["mail"]
    jid = mail.put("send", {"to": "ada"}, priority=3, tags=["welcome"], now=0)
    job = mail.pop("w", now=1)
    assert job is not None
    assert (job.jid, job.klass, job.queue, job.worker, job.attempt) == (jid, "send", "mail", "w", 1)
    assert job.data == {"to": "ada"}
    assert job.heartbeat({"to": "ada", "tried": 1}, now=2) == 62.0
    job.log("halfway", {"done": 1}, now=2)
    assert job.complete(next="archive", now=3) == "waiting"
    archived = client.queues["archive"].pop("w", now=4)
    assert archived is not None
    assert archived.data == {"to": "ada", "tried": 1}
    assert archived.complete(result=[1, 2], now=5) == "complete"
    record = client.jobs[jid].get()
    assert record is not None
    assert (record.state, record.result) == ("complete", "[1,2]")
    assert mail.pop("w") is None


def test_every_part_of_the_facade(client: Client) -> None:
    q = client.queues["q"]
    a, b = client.put_many([q.new("k", jid="a"), q.new("k", jid="b", depends=["a"])])
    assert [queue.name for queue in client.queues] == ["q"]
    assert (q.length(), q.counts().depends, q.jobs("depends")) == (1, 1, ("b",))
    assert [job.jid for job in q.peek(5)] == ["a"]
    handle = client.jobs[a]
    assert handle.priority(5) == 5
    assert handle.tag("x", "y") == ("x", "y")
    assert handle.untag("x") == ("y",)
    assert handle.track()
    assert [job.jid for job in client.tracked.get().jobs] == ["a"]
    assert handle.untrack()
    client.jobs[b].depend("a")
    client.jobs[b].undepend()
    assert client.tags.page("y").jobs == ("a",)
    assert client.tags.top() == ()
    q.pause()
    assert q.pop("w") is None
    q.unpause()
    (popped,) = q.pop_many("w", 1)
    popped.fail("oops", "it broke")
    assert client.failures.groups() == {"oops": 1}
    assert client.failures.page("oops").jobs == ("a",)
    assert q.unfail("oops") == 1
    handle.move("r", data=[1])
    assert client.queues["r"].jobs("waiting") == ("a",)
    running = client.queues["r"].pop("w")
    assert running is not None
    assert client.workers.jobs("w").jobs == ("a",)
    assert [worker.name for worker in client.workers.counts()] == ["w"]
    running.timeout()
    assert client.workers.deregister("w") == 1
    assert client.jobs.cancel("a", "b", "nobody") == ("a", "b")
    assert not client.jobs["a"].cancel()
    client.config.set("heartbeat", 5)
    assert (client.config.get("heartbeat"), client.config.all()["heartbeat"]) == (5, 5)
    client.config.unset("heartbeat")
    client.throttles.set("t", 2)
    assert client.throttles.get("t").maximum == 2
    assert (client.throttles.all()[0].id, client.throttles.locks("t"), client.throttles.pending("t")) == ("t", (), ())
    client.throttles.release("t", "a")
    client.throttles.delete("t")
    q.recur("k", interval=60.0, jid="r1", offset=100.0)
    client.recurring.update("r1", interval=30.0, data=[1])
    assert client.recurring.tag("r1", ["t"]) == ("t",)
    assert client.recurring.untag("r1", ["t"]) == ()
    template = client.recurring.get("r1")
    assert template is not None
    assert (template.interval, template.data) == (30.0, "[1]")
    client.recurring.stop("r1")
    assert q.stats().failures == 1
    q.forget()
    assert client.check() == []
    assert client.jobs.get("a") == ()
    assert client.jobs.complete() == ()
    assert client.capabilities.durable


def test_complete_many_settles_popped_jobs_at_once(client: Client) -> None:
    q = client.queues["q"]
    client.put_many([q.new("k") for _ in range(5)])
    jobs = q.pop_many("w", 5)
    assert client.complete_many([c.Complete(job.jid, "w", "q", attempt=job.attempt) for job in jobs]) == ("complete",) * 5
    outcomes = client.run_many([c.Length("q"), c.Complete(jobs[0].jid, "w", "q"), c.Length("q")])
    assert [(outcome.reply, type(outcome.error)) for outcome in outcomes] == [
        (0, type(None)),
        (None, JobNotRunning),
        (0, type(None)),
    ]


def test_who_lost_the_job_is_told(client: Client) -> None:
    q = client.queues["q"]
    q.put("k", now=0)
    job = q.pop("w", now=0)
    assert job is not None
    job.timeout(now=1)
    assert q.pop("w", now=2) is not None
    with pytest.raises(LockLost):
        job.complete(now=3)


def test_a_handle_that_was_not_popped_cannot_settle(client: Client) -> None:
    client.queues["q"].put("k", jid="a")
    with pytest.raises(JobNotRunning, match="a"):
        client.jobs["a"].complete()


def test_events_reach_other_clients(client: Client) -> None:
    with Client(client.url) as other, other.events.subscribe("log") as events:
        jid = client.queues["q"].put("k")
        event = events.get(5)
        assert event is not None
        assert msgspec.json.decode(event.message) == {"event": "put", "jid": jid, "queue": "q"}
        assert events.get(0) is None


def test_waiting_ends_with_a_put_from_another_thread(client: Client) -> None:
    ticket = client.ticket()
    assert not client.wait(["q"], 0.01, since=ticket)
    ready = threading.Event()

    def put() -> None:
        ready.wait()
        client.queues["q"].put("k")

    thread = threading.Thread(target=put)
    thread.start()
    ticket = client.ticket()
    ready.set()
    assert client.wait(["q"], 10, since=ticket)
    thread.join()


@dataclasses.dataclass
class Point:
    x: int
    when: datetime.date


class Model(pydantic.BaseModel):
    name: str


class Struct(msgspec.Struct):
    n: int


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, None, True, "é"]}, '{"a":[1,null,true,"é"]}'),
        (Point(1, datetime.date(2026, 1, 2)), '{"x":1,"when":"2026-01-02"}'),
        (Model(name="ada"), '{"name":"ada"}'),
        ([Struct(3), Model(name="x")], '[{"n":3},{"name":"x"}]'),
        (uuid.UUID(int=5), '"00000000-0000-0000-0000-000000000005"'),
        (RawJSON('{ "kept" : 1.0 }'), '{ "kept" : 1.0 }'),
        (2**70, str(2**70)),
    ],
    ids=str,
)
def test_what_data_may_be(client: Client, value: Any, text: str) -> None:
    client.queues["q"].put("k", value, jid="a")
    job = client.jobs["a"].get()
    assert job is not None
    assert job.data == text


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"users": [1, {"age": math.nan}]}, r" at \['users'\]\[1\]\['age'\]: "),
        ([Point(1, object())], r" at \[0\]\.when: object is no type"),  # type: ignore[arg-type]
        ((Struct(1), Struct(1j)), r" at \[1\]\.n: complex"),  # type: ignore[arg-type]
        ({"set": {1j}}, r" at \['set'\]: complex"),
        (object(), r"JSON: object"),
    ],
)
def test_what_has_no_json_is_named_with_its_place(client: Client, value: Any, place: str) -> None:
    with pytest.raises(BadArgument, match=place):
        client.queues["q"].put("k", value)


def test_a_circle_has_no_json(client: Client) -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(BadArgument, match="recursion"):
        client.queues["q"].put("k", circle)


@pytest.mark.parametrize("argument", ["tags", "depends", "throttles"])
def test_a_single_text_is_no_list_of_names(client: Client, argument: str) -> None:
    with pytest.raises(BadArgument, match=f"{argument} must be a list"):
        client.queues["q"].put("k", **{argument: "mail"})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [math.nan, [math.inf], object(), {"x": lambda: 1}, RawJSON("nope"), "\ud800"])
def test_what_data_may_not_be(client: Client, value: Any) -> None:
    with pytest.raises(BadArgument, match="data"):
        client.queues["q"].put("k", value)
    assert client.queues["q"].length() == 0


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", "no engine"),
        ("jobs.db", "no engine"),
        ("mysql://host/db", "mysql"),
        ("redis://localhost?durability=maybe", "server or replicas"),
        ("valkey://localhost/jobs", "a number"),
        ("sqlite:///x.db?durability=maybe", "durability"),
        ("sqlite:///x.db?colour=red", "colour"),
        ("sqlite://host/x.db", "sqlite:///"),
    ],
)
def test_bad_urls_say_what_is_wrong(url: str, problem: str) -> None:
    with pytest.raises(BadURL, match=problem):
        Client(url)


@pytest.mark.parametrize("url", [5, b"sqlite://"])
def test_a_url_that_is_no_text_is_refused_with_its_type(url: Any) -> None:
    with pytest.raises(BadURL, match=f"not of the type {type(url).__name__}"):
        Client(url)


def test_the_default_is_a_file_in_the_users_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STANCHION_URL", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with Client() as client:
        assert client.url == f"sqlite:///{tmp_path}/stanchion/queue.db"
        client.queues["q"].put("k")
    monkeypatch.setenv("STANCHION_URL", "sqlite://")
    with Client() as client:
        assert client.url == "sqlite://"


def test_the_data_folder_may_have_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "100% data? #1"
    monkeypatch.delenv("STANCHION_URL", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    with Client() as client:
        client.queues["q"].put("k")
    assert (folder / "stanchion" / "queue.db").exists()


def test_a_popped_job_shows_its_record(client: Client) -> None:
    q = client.queues["q"]
    q.put("k", tags=["a"], retries=3, now=0)
    first = q.pop("w", now=1)
    assert first is not None
    first.retry(group="oops", message="why", now=2)
    job = q.pop("w", now=3)
    assert job is not None
    assert (job.tags, job.retries, job.remaining, job.attempt, job.expires) == (("a",), 3, 2, 2, 63.0)
    assert job.failure is not None
    assert (job.failure.group, job.failure.message) == ("oops", "why")
    assert [entry.what for entry in job.history].count("popped") == 2


def test_records_that_a_command_gave_become_handles(client: Client) -> None:
    client.queues["q"].put("k")
    (record,) = client.run(c.Pop("q", "w"))
    assert client.jobs.of(record).complete() == "complete"


def test_configuration_is_a_mapping_where_calls_block(client: Client) -> None:
    client.config["heartbeat"] = 5
    client.config["mine"] = "x"
    assert (client.config["heartbeat"], client.config["mine"]) == (5, "x")
    assert "mine" in client.config
    assert {"heartbeat", "mine"} <= set(client.config)
    del client.config["mine"]
    assert "mine" not in client.config
    with pytest.raises(KeyError, match="mine"):
        client.config["mine"]


def test_failures_go_back_to_any_queue(client: Client) -> None:
    client.queues["q"].put("k", jid="a")
    job = client.queues["q"].pop("w")
    assert job is not None
    job.fail("oops", "why")
    assert client.failures.unfail("oops", "r") == 1
    assert client.queues["r"].jobs("waiting") == ("a",)


def test_a_closed_client_says_so(client: Client) -> None:
    client.close()
    client.close()
    with pytest.raises(StoreClosed):
        client.queues["q"].put("k")


async def test_callers_that_await(tmp_path: Path) -> None:
    async with AsyncClient(f"sqlite:///{tmp_path}/jobs.db") as client:
        q = client.queues["q"]
        jid = await q.put("k", [1])
        job = await q.pop("w")
        assert job is not None
        assert (job.jid, job.data) == (jid, [1])
        await job.complete(result=2)
        assert [queue.name async for queue in client.queues] == ["q"]
        async with await client.events.subscribe("log") as events:
            await q.put("k", jid="b")
            event = await events.get(5)
            assert event is not None
            assert "b" in event.message
        assert await client.wait(["q"], 1)


def test_the_generated_facade_is_up_to_date() -> None:
    script = ROOT / "tools" / "generate_sync.py"
    subprocess.run([sys.executable, script, "--check"], check=True)


def test_a_rule_that_no_file_needs_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    script = runpy.run_path(str(ROOT / "tools" / "generate_sync.py"))
    assert script["main"](["--check"]) == 0
    script["RULES"].append(("nothing has this", ""))
    assert script["main"](["--check"]) == 1
    assert "nothing has this" in capsys.readouterr().out
