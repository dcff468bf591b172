"""``stanchion worker`` with processes, told by signals, and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stanchion import Client
from stanchion.records import Job
from tests.worker.waiting import until

pytestmark = pytest.mark.slow

TASKS = """
import os, time
from stanchion import App
app = App()

@app.task(retries=3)
def work(folder: str, seconds: float) -> str:
    open(os.path.join(folder, "started"), "a").write(f"{os.getpid()}\\n")
    while seconds < 0:
        try:
            time.sleep(60)
        except BaseException:
            pass
    time.sleep(seconds)
    return "done"
"""


class Worker:
    """``stanchion worker`` in a process of its own; what it writes is read as it comes."""

    def __init__(self, folder: Path, *options: str) -> None:
        (folder / "signaled.py").write_text(TASKS)
        url = f"sqlite:///{folder}/jobs.db?durability=fast"
        self.client = Client(url)
        self.folder = folder
        command = [sys.executable, "-m", "stanchion", "worker", "signaled:app", *options]
        environment = {**os.environ, "STANCHION_URL": url}
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
        self.said = ""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def put(self, seconds: float) -> str:
        data = {"args": [str(self.folder), seconds], "kwargs": {}}
        return self.client.queues["default"].put("signaled.work", data, retries=3)

    def pids(self) -> list[int]:
        file = self.folder / "started"
        return [int(line) for line in file.read_text().split()] if file.exists() else []

    def started(self, jobs: int) -> None:
        until(lambda: len(self.pids()) >= jobs)

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def says(self, text: str) -> None:
        until(lambda: text in self.said)

    def job(self, jid: str) -> Job:
        job = self.client.jobs[jid].get()
        assert job is not None
        return job

    def end(self) -> int:
        code = self.process.wait(30)
        self._reader.join(30)  # its children write there, too: they are gone as well
        assert not self._reader.is_alive()
        return code

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said += line
        self.process.stderr.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Worker]]:
    workers: list[Worker] = []

    def start(*options: str) -> Worker:
        workers.append(Worker(tmp_path, *options))
        return workers[-1]

    yield start
    for worker in workers:
        if worker.process.poll() is None:
            worker.process.kill()
            worker.end()
        worker.client.close()


@pytest.mark.parametrize("queue", ["default", "default=process:1"])
def test_quit_hands_back_at_once(start: Callable[..., Worker], queue: str) -> None:
    worker = start("-q", queue)
    jid = worker.put(60)
    worker.started(1)
    worker.signal(signal.SIGQUIT)
    assert worker.end() == 0
    assert (worker.job(jid).state, worker.job(jid).remaining) == ("stalled", 3)


def test_term_lets_jobs_in_processes_finish(start: Callable[..., Worker]) -> None:
    worker = start("-q", "default=process:1")
    jid = worker.put(0.3)
    worker.started(1)
    worker.signal(signal.SIGTERM)
    assert worker.end() == 0
    assert worker.job(jid).result == '"done"'


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTSTP])
def test_a_quiet_worker_finishes_what_runs_and_takes_no_more(start: Callable[..., Worker], number: int) -> None:
    worker = start("-q", "default")
    worker.says("serves default")
    first = worker.put(0.2)
    worker.started(1)
    worker.signal(number)
    worker.says("takes no more jobs")
    second = worker.put(0)
    until(lambda: worker.job(first).state == "complete")
    assert (worker.process.poll(), worker.job(second).state) == (None, "waiting")
    worker.signal(signal.SIGTERM)
    assert worker.end() == 0


def test_usr2_writes_the_stacks_of_the_worker_and_of_its_processes(start: Callable[..., Worker]) -> None:
    worker = start("-q", "default=process:1")
    worker.put(60)
    worker.started(1)
    worker.signal(signal.SIGUSR2)
    worker.says("in work")
    worker.says("in _run")  # a thread of the worker's own
    assert worker.process.poll() is None


@pytest.mark.parametrize("kind", ["thread", "process"])
def test_ttin_and_ttou_scale_the_first_lane(start: Callable[..., Worker], kind: str) -> None:
    worker = start("-q", f"default={kind}:1")
    worker.says("serves default")
    for _ in range(2):
        worker.put(60)
    worker.started(1)
    worker.signal(signal.SIGTTIN)
    worker.started(2)
    worker.signal(signal.SIGTTOU)
    worker.says("runs 1 jobs at once")
    worker.signal(signal.SIGQUIT)
    assert worker.end() == 0


def test_a_third_term_ends_a_worker_whose_jobs_do_not_heed_the_second(start: Callable[..., Worker]) -> None:
    worker = start("-q", "default=process:1")
    jid = worker.put(-1)
    worker.started(1)
    for said in ("it was told to", "no longer this worker's"):
        worker.signal(signal.SIGTERM)
        worker.says(said)
    worker.signal(signal.SIGTERM)
    assert worker.end() == 128 + signal.SIGTERM
    assert worker.job(jid).state == "running"  # until its lock lapses
    until(lambda: not Path(f"/proc/{worker.pids()[0]}").exists())


def test_processes_end_with_a_worker_that_is_killed(start: Callable[..., Worker]) -> None:
    worker = start("-q", "default=process:2")
    for _ in range(2):
        worker.put(60)
    worker.started(2)
    worker.process.kill()
    assert worker.end() == -signal.SIGKILL
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in worker.pids()))


def test_after_so_many_jobs_it_stops(start: Callable[..., Worker]) -> None:
    worker = start("-q", "default", "--max-jobs", "2")
    jids = [worker.put(0) for _ in range(3)]
    assert worker.end() == 0
    assert [worker.job(jid).state for jid in jids] == ["complete", "complete", "waiting"]


def test_once_runs_one_job(start: Callable[..., Worker]) -> None:
    worker = start("-q", "default", "--once")
    jids = [worker.put(0) for _ in range(2)]
    assert worker.end() == 0
    assert [worker.job(jid).state for jid in jids] == ["complete", "waiting"]


def test_it_stops_once_it_takes_too_much_memory(start: Callable[..., Worker]) -> None:
    worker = start("-q", "default", "--max-memory", "1", "--threads", "1")
    jids = [worker.put(0) for _ in range(3)]
    assert worker.end() == 0
    assert "too much memory" in worker.said
    assert worker.job(jids[0]).state == "complete"
