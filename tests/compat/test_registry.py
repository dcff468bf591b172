"""What jobs may run is what was registered; and the client that all of it goes through."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stanchion.compat import qless
from stanchion.compat.qless import registry
from stanchion.compat.qless.urls import url_of
from tests.compat.conftest import Face


class Work:
    """Code of a job."""

    @staticmethod
    def process(job: Any) -> None:
        job.complete()


WORK = f"{Work.__module__}.Work"


def test_a_name_from_the_store_is_never_imported(ours: Face, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit('it was imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    q = ours.client.queues["q"]
    for klass in ("evil.Code", "os.system", "subprocess.Popen", WORK):
        q.put(klass, {}, jid=klass)
        job = q.pop()
        with pytest.raises(qless.UnregisteredKlass, match=r"qless\.register"):
            _ = job.klass
        assert job.process() == klass
        failure = ours.client.jobs[klass].failure
        assert (failure["group"], klass in failure["message"]) == ("q-UnregisteredKlass", True)
    assert "evil" not in sys.modules


def test_classes_functions_and_modules_are_registered(ours: Face) -> None:
    module = ModuleType("jobs")
    exec("class One: ...\nclass _Hidden: ...\nfrom pathlib import Path\ndef function(job): ...", vars(module))
    assert qless.register(module) is module
    assert sorted(registry.registered()) == ["jobs.One"]
    assert qless.register(Work, klass="Ruby::Work") is Work
    assert registry.lookup("Ruby::Work") is Work

    @qless.register(klass="Ruby::Function")
    def function(job: Any) -> None:
        job["seen"] = True
        job.complete()

    ours.client.queues["q"].put("Ruby::Function", {}, jid="one")
    ours.client.queues["q"].pop().process()
    assert ours.client.jobs["one"]["seen"]

    @qless.register
    class Decorated: ...

    assert ours.client.queues["q"].class_string(Decorated).endswith(".Decorated")
    assert registry.lookup(ours.client.queues["q"].class_string(Decorated)) is Decorated


def test_a_class_is_put_under_the_name_that_it_has(ours: Face) -> None:
    q = ours.client.queues["q"]
    assert ours.client.jobs[q.put(Work, {})].klass is Work
    assert ours.client.jobs[q.put(WORK, {})].klass_name == WORK
    registry._registered.clear()
    qless.register(Work, klass="Ruby::Work")
    assert ours.client.jobs[q.put(Work, {})].klass_name == "Ruby::Work"


def test_a_coroutine_function_fails_where_it_would_never_be_awaited(ours: Face) -> None:
    async def process(job: Any) -> None: ...

    qless.register(process, klass="k")
    q = ours.client.queues["q"]
    q.put("k", {}, jid="one")
    q.pop().process()
    assert ours.client.jobs.failed() == {"q-method-type": 1}


def test_data_that_has_no_json_is_refused_and_fails_the_job_as_it_was(ours: Face) -> None:
    def process(job: Any) -> None:
        job["bad"] = object()
        job.complete()

    qless.register(process, klass="k")
    q = ours.client.queues["q"]
    with pytest.raises(qless.QlessException, match=r"data.*\['bad'\]"):
        q.put("k", {"bad": object()})
    q.put("k", {"good": 1}, jid="one")
    q.pop().process()
    job = ours.client.jobs["one"]
    assert (job.failure["group"], job.data) == ("q-QlessException", {"good": 1})


def test_what_cannot_be_registered() -> None:
    qless.register(Work)
    qless.register(Work)
    with pytest.raises(ValueError, match="already"):
        qless.register(ValueError, klass=WORK)
    with pytest.raises(TypeError, match="a class, a function or a module"):
        qless.register("os.system")
    with pytest.raises(TypeError, match="one class"):
        qless.register(Work, ValueError, klass="both")


def test_names_that_a_class_does_not_show_are_no_methods(ours: Face) -> None:
    qless.register(Work, klass="k")
    for queue in ("__init__", "_private", "__class__"):
        ours.client.queues[queue].put("k", {}, jid=queue)
        ours.client.queues[queue].pop().process()
        assert ours.client.jobs[queue].state == "complete"


def test_a_job_popped_again_under_the_same_name_is_not_the_first_ones_any_more(ours: Face) -> None:
    q = ours.client.queues["q"]
    q.put("k", {}, jid="one")
    first = q.pop()
    ours.client.jobs["one"].timeout()
    second = q.pop()
    with pytest.raises(qless.LostLockException):
        first.complete()
    assert second.complete() == "complete"


def test_the_klass_of_a_recurring_job_can_be_changed(ours: Face) -> None:
    q = ours.client.queues["q"]
    q.recur("k", {}, 60, jid="tick")
    job = ours.client.jobs["tick"]
    job.klass = Work
    assert (job.klass, job.klass_name) == (Work, WORK)
    assert ours.client.jobs["tick"].klass is Work
    job.cancel()
    assert job.next is None


def test_what_is_more_than_qless_py_has(ours: Face) -> None:
    client = ours.client
    q = client.queues["q"]
    for jid in "abc":
        q.put("k", {}, jid=jid)
    assert q.jobs.waiting() == ["a", "b", "c"]
    assert client.bulk_cancel(["a", "b"]) == ["a", "b"]
    client.jobs["c"].log("told", {"more": 1})
    assert client.jobs["c"].history[-1]["what"] == "told"
    assert client.stanchion.queues["q"].counts().waiting == 1
    with client as same:
        assert same is client
    assert len(client.queues["q"]) == 1  # it is opened again


def test_trouble_with_the_store_is_no_refusal() -> None:
    from stanchion import OutcomeUnknown, Retryable

    client = qless.Client("redis://127.0.0.1:1?timeout=0.1")
    with pytest.raises((Retryable, OutcomeUnknown)):
        client.queues["q"].put("k", {})
    client.close()


@pytest.mark.parametrize(
    ("url", "parts", "expected"),
    [
        (None, {}, "redis://localhost:6379"),
        (None, {"host": "h", "port": 7000, "db": 2}, "redis://h:7000/2"),
        (None, {"password": "a/b@c", "ssl": True}, "rediss://:a%2Fb%40c@localhost:6379"),
        ("redis://h", {"db": 3, "password": "p", "username": "u"}, "redis://u:p@h/3"),
        ("redis://:x@h/1", {"db": 3, "password": "p"}, "redis://:x@h/1"),
        ("sqlite:///a.db?durability=fast", {}, "sqlite:///a.db?durability=fast"),
    ],
)
def test_where_the_queues_are(url: str | None, parts: dict[str, object], expected: str) -> None:
    assert url_of(url, **parts) == expected


def test_what_a_client_does_not_take() -> None:
    with pytest.raises(TypeError, match="socket_timeout"):
        qless.Client(socket_timeout=3)
    with pytest.raises(TypeError, match="a file has no"):
        qless.Client("sqlite:///a.db", db=1)
    assert qless.Client().worker_name == socket.gethostname()
