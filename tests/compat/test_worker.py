"""The worker: code written for qless-py, on threads and in processes, from any fleet's jobs."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from stanchion.client.script import load_script, script_text
from stanchion.compat import qless
from stanchion.compat.qless.workers import Worker
from stanchion.compat.qless.workers.forking import ForkingWorker
from stanchion.compat.qless.workers.greenlet import GeventWorker
from stanchion.compat.qless.workers.serial import SerialWorker
from stanchion.worker import Worker as NativeWorker
from tests.compat import processes
from tests.compat.conftest import Face
from tests.servers import SHARED
from tests.worker.waiting import until


class Video:
    """A method for each queue."""

    def download(job: Any) -> None:
        job["file"] = "a.mp4"
        job.complete("encode")

    @staticmethod
    def encode(job: Any) -> None:
        job["worker"] = job.worker_name
        job["same"] = job.client.worker_name == job.worker_name
        job["others"] = len(job.client.queues["download"])
        job["here"] = os.listdir(job.sandbox)
        job["sandbox"] = job.sandbox
        job.heartbeat()
        job.complete()


class Trouble:
    """Ends in each way that there is but well."""

    @staticmethod
    def raising(job: Any) -> None:
        raise KeyError("no such thing")

    @staticmethod
    @qless.retry(ValueError)
    def retrying(job: Any) -> None:
        raise ValueError("for now")

    @staticmethod
    def silent(job: Any) -> None: ...

    @staticmethod
    def losing(job: Any) -> None:
        job.client.jobs[job.jid].timeout()
        job.heartbeat()

    @staticmethod
    def leaving(job: Any) -> None:
        sys.exit(3)

    @staticmethod
    def moving(job: Any) -> None:
        job.move("elsewhere")

    @staticmethod
    def failing(job: Any) -> None:
        job.fail("mine", "since I say so")

    @staticmethod
    def canceling(job: Any) -> None:
        job.cancel()


def test_a_worker_runs_a_method_for_each_queue(ours: Face) -> None:
    client = ours.client
    qless.register(Video)
    jid = client.queues["download"].put(Video, {"n": 1})
    assert SerialWorker(["download", client.queues["encode"]], client, interval=1, resume=True).run(burst=True) == 2
    job = client.jobs[jid]
    assert (job.state, job["n"], job["file"], job["same"], job["others"]) == ("complete", 1, "a.mp4", True, 0)
    assert job["worker"].startswith("w-")
    assert (job["here"], os.path.exists(job["sandbox"])) == ([], False)
    assert client.workers.counts == []


def test_jobs_of_other_languages_run_under_their_klass(ours: Face) -> None:
    qless.register(Video, klass="Billing::Video")
    qless.register(lambda job: job.complete(), klass="App\\Jobs\\Mail")
    q = ours.client.queues["encode"]
    q.put("Billing::Video", {}, jid="ruby")
    q.put("App\\Jobs\\Mail", {}, jid="php")
    q.put("os.system", {}, jid="unknown")
    assert GeventWorker(["encode"], ours.client, greenlets=2).run(burst=True) == 3
    assert [ours.client.jobs[jid].state for jid in ("ruby", "php", "unknown")] == ["complete", "complete", "failed"]
    assert ours.client.jobs.failed() == {"unknown-klass": 1}


@pytest.mark.parametrize(
    ("queue", "state", "group"),
    [
        ("raising", "failed", "raising-KeyError"),
        ("failing", "failed", "mine"),
        ("moving", "waiting", None),
        ("canceling", None, None),
        ("silent", "running", None),
        ("leaving", "scheduled", "leaving-SystemExit"),
    ],
)
def test_how_jobs_end(ours: Face, queue: str, state: str | None, group: str | None) -> None:
    qless.register(Trouble)
    ours.client.queues[queue].put(Trouble, {}, jid="one")
    assert SerialWorker([queue], ours.client).run(burst=True) == 1
    job = ours.client.jobs["one"]
    assert (None if job is None else job.state) == state
    assert (None if job is None else job.failure.get("group")) == group


def test_the_retry_decorator_costs_retries(ours: Face) -> None:
    qless.register(Trouble)
    ours.client.queues["retrying"].put(Trouble, {}, jid="one", retries=2)
    assert SerialWorker(["retrying"], ours.client).run(burst=True) == 3
    job = ours.client.jobs["one"]
    assert (job.state, job.failure["group"]) == ("failed", "failed-retries-retrying")


def test_a_job_that_is_lost_is_given_to_the_next(ours: Face) -> None:
    qless.register(Trouble)
    ours.client.queues["losing"].put(Trouble, {}, jid="one", retries=1)
    worker = SerialWorker(["losing"], ours.client)
    thread = threading.Thread(target=worker.run)
    thread.start()
    until(lambda: len([entry for entry in ours.client.jobs["one"].history if entry["what"] == "popped"]) > 1)
    worker.stop()
    thread.join(20)
    assert ours.client.jobs.failed() == {}


@pytest.mark.slow
def test_what_its_code_left_alone_is_told_and_given_again(ours: Face, caplog: pytest.LogCaptureFixture) -> None:
    qless.register(Trouble)
    q = ours.client.queues["silent"]
    ours.client.config["grace-period"] = 0
    q.heartbeat = 1
    q.put(Trouble, {}, jid="one")
    SerialWorker(["silent"], ours.client).run(burst=True)
    assert "has not settled job one" in caplog.text
    until(lambda: q.jobs.stalled() == ["one"])
    assert q.pop().retries_left == 4


@pytest.mark.slow
def test_jobs_run_in_processes(ours: Face) -> None:
    processes.register()
    q = ours.client.queues["q"]
    for jid in "ab":
        q.put("Ruby::Work", {}, jid=jid)
    assert ForkingWorker(["q"], ours.client, workers=1).run(burst=True) == 2
    jobs = ours.client.jobs.get("a", "b")
    assert [(job.state, job["sandbox"], job["pid"] == os.getpid()) for job in jobs] == [("complete", True, False)] * 2


def test_a_worker_is_stopped(ours: Face) -> None:
    qless.register(Video)
    worker = SerialWorker(["download"], ours.client)
    thread = threading.Thread(target=worker.run)
    thread.start()
    jid = ours.client.queues["download"].put(Video, {})
    until(lambda: ours.client.jobs[jid].queue_name == "encode")
    worker.stop()
    thread.join(20)
    assert not thread.is_alive()
    assert worker.shutdown
    assert worker.run() == 0


def test_what_workers_are_not_told() -> None:
    client = qless.Client()
    with pytest.raises(TypeError, match="klass"):
        ForkingWorker(["q"], client, klass=GeventWorker)
    with pytest.raises(TypeError, match="workers"):
        SerialWorker(["q"], client, workers=3)
    assert [kind(["q"], client).count for kind in (Worker, SerialWorker, GeventWorker)] == [1, 1, 10]
    assert ForkingWorker(["q"], client).count == os.cpu_count()


def test_the_apps_own_tasks_run_beside(ours: Face) -> None:
    qless.register(Video)
    app = qless.App(ours.url)

    @app.task(queue="encode")
    def double(n: int) -> int:
        return 2 * n

    handle = double.put(4)
    jid = ours.client.queues["encode"].put(Video, {})
    assert NativeWorker(app, ["encode"]).run(burst=True) == 2
    assert handle.result(5) == 8
    assert ours.client.jobs[jid].state == "complete"
    app.close()


WORK = """
from stanchion.compat import qless


@qless.register(klass="Ruby::Work")
class Work:
    @staticmethod
    def process(job):
        job["done"] = True
        job.complete()


app = qless.App({url!r})
"""


@pytest.mark.parametrize("lane", ["q", "q=process:1"])
@pytest.mark.slow
def test_stanchion_worker_runs_it(ours: Face, tmp_path: Path, lane: str) -> None:
    (tmp_path / "work.py").write_text(WORK.format(url=ours.url))
    ours.client.queues["q"].put("Ruby::Work", {}, jid="one")
    command = [sys.executable, "-m", "stanchion", "worker", "work:app", "-q", lane]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        until(lambda: ours.client.jobs["one"].state == "complete")
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert ours.client.jobs["one"]["done"]


PROGRAM = """
from stanchion.compat import qless
from stanchion.compat.qless.workers.forking import ForkingWorker


@qless.register
class Work:
    @staticmethod
    def process(job):
        job["done"] = True
        job.complete()


if __name__ == "__main__":
    with qless.Client({url!r}) as client:
        client.queues["q"].put(Work, {{}}, jid="one")
        ForkingWorker(["q"], client, workers=1).run(burst=True)
"""


@pytest.mark.slow
def test_a_program_puts_and_runs_its_own_classes_in_processes(ours: Face, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.format(url=ours.url))
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=True, timeout=60)
    job = ours.client.jobs["one"]
    assert (job.state, job["done"], job.klass_name) == ("complete", True, "program.Work")


@pytest.mark.skipif(find_spec("qless") is None, reason="qless-py is not installed")
@pytest.mark.filterwarnings("ignore:The 'warn' method is deprecated:DeprecationWarning")
def test_a_fleet_of_both() -> None:
    SHARED.url("valkey")  # empties it
    url = SHARED.get("valkey").url
    load_script(url)
    old = importlib.import_module("qless").Client(url, hostname="old")
    old._lua = old.redis.register_script(script_text())
    with qless.Client(url, hostname="new") as new:
        qless.register(Video)
        jid = old.queues["download"].put(f"{__name__}.Video", {"by": "old"})
        SerialWorker(["download"], new).run(burst=True)
        job = old.queues["encode"].pop()
        assert (job.jid, job.data) == (jid, {"by": "old", "file": "a.mp4"})
        job.retry()
        SerialWorker(["encode"], new).run(burst=True)
        assert old.jobs[jid].state == "complete"
        assert [entry["what"] for entry in old.jobs[jid].history] == [entry["what"] for entry in new.jobs[jid].history]
        other = new.queues["q"].put(Video, {"by": "new"}, jid="other", tags=["x"])
        assert old.queues["q"].pop().complete() == "complete"
        assert new.jobs[other].tags == ["x"]
    old.redis.close()
