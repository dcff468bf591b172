"""Tasks: functions and classes, their arguments, and what they return."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pydantic
import pytest

from stanchion import App, Constant, Worker, current_job
from stanchion.errors import BadArgument, JobFailed, JobNotFound
from stanchion.tasks.registry import name_of


@dataclass
class User:
    name: str
    age: int = 0


class Order(pydantic.BaseModel):
    number: int


class Price(msgspec.Struct):
    cents: int


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(f"sqlite:///{tmp_path}/jobs.db?durability=fast")
    yield app
    app.close()


def drain(app: App, *queues: str) -> int:
    return Worker(app, queues or ("default",), threads=2).run(burst=True)


def test_a_task_is_still_the_function(app: App) -> None:
    @app.task
    def add(a: int, b: int = 1) -> int:
        """Add."""
        return a + b

    @app.task(queue="other")
    async def later(a: int) -> int:
        return a

    assert (add(2), add(a=2, b=3), add.__doc__, add.__name__) == (3, 5, "Add.", "add")
    assert asyncio.run(later(4)) == 4


def test_put_run_and_result(app: App) -> None:
    @app.task
    def greet(user: User, order: Order, *prices: Price, times: int = 1) -> dict[str, Any]:
        return {"text": f"{user.name} {order.number} " * times, "cents": sum(price.cents for price in prices)}

    handle = greet.put(User("ada"), Order(number=7), Price(5), Price(6), times=2)
    assert handle.get().state == "waiting"  # type: ignore[union-attr]
    assert drain(app) == 1
    assert handle.result(5) == {"text": "ada 7 ada 7 ", "cents": 11}
    assert greet.handle(handle.jid).result() == handle.result()


def test_the_result_has_the_type_that_the_function_says(app: App) -> None:
    @app.task
    async def make(name: str) -> User:
        return User(name, 5)

    handle = make.put("bob")
    drain(app)
    assert handle.result(5) == User("bob", 5)


def test_options_of_a_task_and_of_one_put(app: App) -> None:
    @app.task(queue="mail", priority=2, retries=1, tags=["a"], throttles=["t"], delay=5, name="send")
    def send(to: str) -> None: ...

    job = send.options(priority=9, delay=60, jid="mine", tags=["b", "c"]).put("ada").get()
    assert job is not None
    assert (job.jid, job.klass, job.queue, job.priority, job.retries) == ("mine", "send", "mail", 9, 1)
    assert (job.tags, job.throttles, job.state) == (("b", "c"), ("t",), "scheduled")
    first = send.put("bob").get()
    assert first is not None
    assert (first.tags, first.priority) == (("a",), 2)
    with pytest.raises(TypeError, match="colour"):
        send.options(colour="red")
    with pytest.raises(TypeError, match="colour"):
        app.task(colour="red")(lambda: None)


@pytest.mark.parametrize(
    ("options", "error", "problem"),
    [
        ({"tags": "mail"}, BadArgument, "tags"),
        ({"depends": "a"}, BadArgument, "depends"),
        ({"retries": -2}, BadArgument, "retries"),
        ({"priority": "high"}, BadArgument, "priority"),
        ({"queue": ""}, BadArgument, "queue"),
        ({"timeout": 0}, ValueError, "timeout"),
        ({"backoff": 5}, TypeError, "backoff"),
    ],
    ids=str,
)
def test_a_wrong_option_is_an_error_where_the_task_is_made(
    app: App, options: dict[str, Any], error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        app.task(**options)(lambda: None)
    assert app.runnables == {}


@pytest.mark.parametrize("option", ["timeout", "backoff"])
def test_what_the_worker_reads_from_the_task_cannot_differ_for_one_call(app: App, option: str) -> None:
    task = app.task(lambda: None)
    with pytest.raises(TypeError, match=f"{option} is the same for all calls"):
        task.options(**{option: 5})


def test_annotations_that_cannot_be_read_are_an_error_at_put(app: App) -> None:
    class Hidden: ...

    @app.task
    def takes(hidden: Hidden) -> None: ...

    with pytest.raises(TypeError, match="'Hidden' is not defined"):
        takes.put({})  # type: ignore[arg-type]


def test_limits_in_annotations_are_checked_before_the_call(app: App) -> None:
    app.task(retries=0, name="few")(few)
    app.client.queues["default"].put("few", {"args": [9]}, retries=0)
    drain(app)
    assert app.client.failures.groups() == {"default-ValidationError": 1}


def few(n: Annotated[int, msgspec.Meta(le=5)]) -> int:
    return n


@pytest.mark.parametrize("data", [[], {"args": 5}, {"kwargs": []}, {"arguments": []}, "text", {"args": [1, 2]}], ids=str)
def test_data_that_is_no_call_fails_the_job_with_a_reason(app: App, data: Any) -> None:
    app.task(name="one")(lambda n: n)
    jid = app.client.queues["default"].put("one", data, retries=0)
    drain(app)
    job = app.client.jobs[jid].get()
    assert job is not None
    assert job.failure is not None
    assert job.failure.group in ("default-ValidationError", "default-TypeError")


def test_many_at_once(app: App) -> None:
    @app.task
    def double(n: int) -> int:
        return 2 * n

    jids = app.put_many([double.job(n) for n in range(20)])
    assert drain(app) == 20
    assert [double.handle(jid).result() for jid in jids] == [2 * n for n in range(20)]


@pytest.mark.parametrize("arguments", [((), {}), ((1, 2, 3), {}), ((1,), {"nope": 1})])
def test_a_call_that_does_not_fit_is_an_error_at_put(app: App, arguments: tuple[Any, Any]) -> None:
    @app.task
    def two(a: int, b: int = 1) -> None: ...

    with pytest.raises(TypeError):
        two.put(*arguments[0], **arguments[1])
    assert app.client.queues["default"].length() == 0


def test_an_argument_that_is_no_json_is_an_error_at_put(app: App) -> None:
    @app.task
    def anything(a: object) -> None: ...

    with pytest.raises(BadArgument, match="object"):
        anything.put(object())


def test_arguments_of_the_wrong_type_fail_the_job_with_a_reason(app: App) -> None:
    @app.task(retries=0)
    def number(n: int) -> int:
        return n

    handle = number.put("x")  # type: ignore[arg-type]
    drain(app)
    with pytest.raises(JobFailed, match="Expected `int`"):
        handle.result(1)
    assert app.client.failures.groups() == {"default-ValidationError": 1}


def test_a_name_is_taken_once(app: App) -> None:
    app.task(name="x")(lambda: None)
    with pytest.raises(ValueError, match="x"):
        app.task(name="x")(lambda: None)


def test_classes_in_the_style_of_qless(app: App) -> None:
    seen = []

    @app.register
    class Pipeline:
        @staticmethod
        def first(job: Any) -> None:
            seen.append(("first", job.data))
            job.complete(next="second", data={"n": job.data["n"] + 1})

        def process(self, job: Any) -> int:
            seen.append((job.queue, job.data))
            return int(job.data["n"])

    jid = app.client.queues["first"].put(name_of(Pipeline), {"n": 1})
    drain(app, "first", "second")
    assert seen == [("first", {"n": 1}), ("second", {"n": 2})]
    job = app.client.jobs[jid].get()
    assert job is not None
    assert (job.state, job.result) == ("complete", "2")
    with pytest.raises(TypeError, match="process"):
        app.register(type("Empty", (), {}))


def test_a_queue_names_no_private_method(app: App) -> None:
    @app.register
    class Careful:
        def work(self, job: Any) -> None: ...

    app.client.queues["__init__"].put(name_of(Careful), retries=0)
    drain(app, "__init__")
    assert app.client.failures.groups() == {"__init__-LookupError": 1}


def test_an_unknown_klass_fails_in_a_group_of_its_own(app: App) -> None:
    jid = app.client.queues["default"].put("os.system", {"args": ["true"]})
    drain(app)
    job = app.client.jobs[jid].get()
    assert job is not None
    assert job.failure is not None
    assert (job.state, job.failure.group) == ("failed", "unknown-klass")
    assert "os.system" in job.failure.message


def test_a_result_that_is_no_json_fails_the_job(app: App) -> None:
    @app.task
    def odd() -> object:
        return object()

    odd.put()
    drain(app)
    assert app.client.failures.groups() == {"default-unencodable-result": 1}


def test_exceptions_are_retried_and_then_grouped(app: App) -> None:
    tries = []

    @app.task(retries=2, backoff=Constant(0))
    def flaky() -> None:
        tries.append(current_job().attempt)
        raise ValueError("no luck")

    handle = flaky.put()
    drain(app)
    assert tries == [1, 2, 3]
    job = handle.get()
    assert job is not None
    assert job.failure is not None
    assert (job.state, job.failure.group) == ("failed", "default-ValueError")
    assert "ValueError: no luck" in job.failure.message
    assert "flaky" in job.failure.message
    with pytest.raises(JobFailed, match="no luck"):
        handle.result(1)


def test_a_result_is_awaited(app: App) -> None:
    @app.task
    def slow() -> str:
        return "done"

    handle = slow.put()
    with pytest.raises(TimeoutError):
        handle.result(0.01)
    waiting = threading.Thread(target=drain, args=(app,))
    waiting.start()
    assert handle.result(10) == "done"
    waiting.join()
    app.client.jobs.cancel(handle.jid)
    with pytest.raises(JobNotFound):
        handle.result(1)


async def test_put_from_a_coroutine(app: App) -> None:
    @app.task
    def nothing() -> None: ...

    handle = await nothing.aput()
    assert handle.get() is not None
    await nothing.options(delay=5).aput()
    assert app.client.queues["default"].counts().scheduled == 1


def test_no_job_runs_here() -> None:
    with pytest.raises(LookupError):
        current_job()
