"""The worker on real files, threads and signals."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stanchion import App, Client, Constant, Worker, current_job
from stanchion.errors import BadArgument, JobNotRunning, LockLost
from stanchion.rules.names import MAX_NAME_BYTES
from stanchion.worker import LeaseLost
from tests.worker.waiting import until

URL = "sqlite:///{}/jobs.db?durability=fast"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    app = App(URL.format(tmp_path))
    yield app
    app.close()


@pytest.fixture
def running(app: App) -> Iterator[Callable[..., Worker]]:
    """Start workers on threads; they are stopped when the test ends."""
    started: list[tuple[Worker, threading.Thread]] = []

    def start(*queues: str, **options: object) -> Worker:
        worker = Worker(app, queues or ("default",), **options)  # type: ignore[arg-type]
        thread = threading.Thread(target=worker.run)
        thread.start()
        started.append((worker, thread))
        return worker

    yield start
    for worker, thread in started:
        worker.stop()
        thread.join(20)
        assert not thread.is_alive()


def test_jobs_run_as_they_are_put(app: App, running: Callable[..., Worker]) -> None:
    @app.task
    def double(n: int) -> int:
        return 2 * n

    running(threads=2)
    assert [double.put(n).result(10) for n in range(5)] == [0, 2, 4, 6, 8]
    delayed = double.options(delay=0.05).put(9)
    assert delayed.result(10) == 18


def test_many_async_jobs_run_at_once(app: App, running: Callable[..., Worker]) -> None:
    together = 0
    most = 0

    @app.task
    async def nap() -> None:
        nonlocal together, most
        together += 1
        most = max(most, together)
        while most < 20:
            await asyncio.sleep(0.001)
        together -= 1

    app.put_many([nap.job() for _ in range(20)])
    Worker(app, threads=20).run(burst=True)
    assert most == 20


@pytest.mark.slow
def test_leases_are_renewed_while_code_holds_the_interpreter(app: App, running: Callable[..., Worker]) -> None:
    app.client.config.set("heartbeat", 0.6)
    app.client.config.set("grace-period", 0)

    @app.task
    def busy() -> int:
        end = time.monotonic() + 1.8
        while time.monotonic() < end:
            sum(range(10_000))
        return current_job().attempt

    @app.task
    async def blocking() -> int:
        time.sleep(1.8)
        return current_job().attempt

    handles = [busy.put(), blocking.put()]
    running(threads=2)
    running(threads=2)
    assert [handle.result(20) for handle in handles] == [1, 1]


@pytest.mark.parametrize("kind", ["thread", "busy", "async"])
def test_a_job_that_lost_its_lock_is_told(app: App, running: Callable[..., Worker], kind: str) -> None:
    app.client.config.set("heartbeat", 0.3)
    told: list[BaseException] = []
    started = threading.Event()

    @app.task(retries=0)
    def sync() -> None:
        started.set()
        try:
            while True:
                time.sleep(0.01)
                current_job().log("still here")
        except LockLost as error:
            told.append(error)
            raise

    @app.task(retries=0)
    async def later() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError as error:
            told.append(error)
            raise

    @app.task(retries=0)
    def busy() -> None:
        started.set()
        try:
            while True:
                sum(range(100))
        except LeaseLost as error:
            told.append(error)
            raise

    handle = {"thread": sync, "busy": busy, "async": later}[kind].put()
    running(threads=1)
    assert started.wait(10)
    handle_job = app.client.jobs[handle.jid]
    app.client.queues["default"].pause()
    handle_job.move("elsewhere")
    until(lambda: told)
    job = handle.get()
    assert job is not None
    assert (job.state, job.queue) == ("waiting", "elsewhere")


def test_a_timeout_cancels_async_code(app: App) -> None:
    @app.task(retries=0, timeout=0.05)
    async def slow() -> None:
        await asyncio.sleep(60)

    slow.put()
    Worker(app, threads=1).run(burst=True)
    assert app.client.failures.groups() == {"default-TimeoutError": 1}


def test_a_timeout_fails_code_on_a_thread_when_it_ends(app: App) -> None:
    @app.task(retries=0, timeout=0.05)
    def slow() -> None:
        until(lambda: current_job().lost)

    slow.put()
    Worker(app, threads=1).run(burst=True)
    assert app.client.failures.groups() == {"default-TimeoutError": 1}


def test_code_on_a_thread_is_told_at_its_next_call_that_its_time_is_over(app: App) -> None:
    told = []

    @app.task(retries=0, timeout=0.05)
    def slow() -> None:
        until(lambda: current_job().lost)
        try:
            current_job().heartbeat()
        except TimeoutError as error:
            told.append(error)
            raise LookupError from error

    handle = slow.put()
    Worker(app, threads=1).run(burst=True)
    job = handle.get()
    assert job is not None
    assert job.failure is not None
    assert (len(told), job.failure.group) == (1, "default-TimeoutError")
    assert "LookupError" in job.failure.message


@pytest.mark.parametrize("how", ["complete", "fail", "retry", "move", "cancel"])
def test_code_that_settles_its_job_goes_on_undisturbed(app: App, how: str) -> None:
    app.client.config.set("heartbeat", 0.15)
    ended = []

    @app.task
    async def own() -> None:
        job = current_job()
        if how == "complete":
            job.complete(result=1)
        elif how == "fail":
            job.fail("mine", "why")
        elif how == "retry":
            job.retry(delay=3600)
        elif how == "move":
            job.move("elsewhere")
        else:
            job.cancel()
        await asyncio.sleep(0.2)  # longer than the lock would last
        with pytest.raises(JobNotRunning, match="its own code"):
            job.log("more")
        ended.append(job.get())

    handle = own.put()
    Worker(app, threads=1).run(burst=True)
    assert ended == [handle.get()]
    expected = {"complete": "complete", "fail": "failed", "retry": "scheduled", "move": "waiting", "cancel": None}
    assert (ended[0] and ended[0].state) == expected[how]


def test_a_call_that_is_refused_leaves_the_job_to_its_worker(app: App) -> None:
    @app.task
    def wrong() -> str:
        with pytest.raises(BadArgument):
            current_job().complete(delay=5)
        return "done"

    handle = wrong.put()
    Worker(app, threads=1).run(burst=True)
    assert handle.result(1) == "done"


@pytest.mark.slow
def test_a_lock_that_gets_shorter_is_renewed_more_often(app: App) -> None:
    """At its old pace it is renewed after 0.4 s and 0.8 s; that of 0.4 s lapses after 0.6 s."""
    app.client.config.set("heartbeat", 1.2)
    app.client.config.set("grace-period", 0)

    @app.task
    def slow() -> int:
        app.client.config.set("heartbeat", 0.2)
        time.sleep(0.7)
        return len(app.client.queues["default"].pop_many("thief", 1))

    handle = slow.put()
    Worker(app, threads=1).run(burst=True)
    assert handle.result(1) == 0


@pytest.mark.slow
def test_a_queue_with_a_long_name_is_served(app: App) -> None:
    queue = "q" * MAX_NAME_BYTES
    app.client.config.set("heartbeat", 0.2)

    @app.task(queue=queue, retries=0)
    def slow() -> None:
        time.sleep(0.3)
        raise ValueError

    slow.put()
    Worker(app, [queue], threads=1).run(burst=True)
    ((group, count),) = app.client.failures.groups().items()
    assert (group.endswith("q-ValueError"), count) == (True, 1)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_code_that_wants_to_end_the_process_only_fails(app: App, error: BaseException) -> None:
    @app.task(retries=0)
    def rude() -> None:
        raise error

    rude.put()
    Worker(app, threads=1).run(burst=True)
    assert app.client.failures.groups() == {f"default-{type(error).__name__}": 1}


def test_queues_are_served_in_order(app: App) -> None:
    order = []

    @app.task
    def note(text: str) -> None:
        order.append(text)

    for queue in ("low", "high", "low", "high"):
        note.options(queue=queue).put(queue)
    Worker(app, ("high", "low"), threads=1).run(burst=True)
    assert order == ["high", "high", "low", "low"]


def test_retries_wait_for_their_backoff(app: App) -> None:
    @app.task(retries=1, backoff=Constant(3600))
    def fails() -> None:
        raise ValueError

    handle = fails.put()
    Worker(app, threads=1).run(burst=True)
    job = handle.get()
    assert job is not None
    assert (job.state, job.remaining) == ("scheduled", 0)
    assert 3500 < job.due - time.time() < 3700


def test_a_worker_needs_queues_and_threads(app: App) -> None:
    for queues, threads in (((), 1), ("mail", 1), (("q",), 0)):
        with pytest.raises(ValueError, match="worker needs"):
            Worker(app, queues, threads=threads)


TASKS = """
import os, signal, sys, time
from stanchion import App
app = App()

@app.task(retries=3)
def work(folder: str, seconds: float) -> str:
    open(os.path.join(folder, "started"), "a").write("x")
    time.sleep(seconds)
    return "done"
"""


class Process:
    """``stanchion worker`` in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        (folder / "tasks.py").write_text(TASKS)
        self.url = URL.format(folder)
        self.client = Client(self.url)
        self.folder = folder
        environment = {**os.environ, "STANCHION_URL": self.url}
        command = [sys.executable, "-m", "stanchion", "worker", "tasks:app", *options]
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)

    def put(self, seconds: float) -> str:
        return self.client.queues["default"].put(
            "tasks.work", {"args": [str(self.folder), seconds], "kwargs": {}}, retries=3
        )

    def started(self, jobs: int = 1) -> None:
        file = self.folder / "started"
        until(lambda: file.exists() and len(file.read_text()) >= jobs)

    def end(self) -> tuple[int, str]:
        _, error = self.process.communicate(timeout=20)
        return self.process.returncode, error


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    processes: list[Process] = []

    def start(*options: str) -> Process:
        processes.append(Process(tmp_path, *options))
        return processes[-1]

    yield start
    for one in processes:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()
        one.client.close()


@pytest.mark.slow
def test_sigterm_lets_running_jobs_finish(start: Callable[..., Process]) -> None:
    process = start()
    jid = process.put(0.5)
    process.started()
    waiting = process.put(0)
    process.client.queues["default"].pause()
    process.process.send_signal(signal.SIGTERM)
    code, _ = process.end()
    job = process.client.jobs[jid].get()
    assert job is not None
    assert (code, job.state, job.result) == (0, "complete", '"done"')
    assert process.client.workers.counts() == ()
    assert process.client.jobs[waiting].get() is not None


@pytest.mark.slow
@pytest.mark.parametrize("twice", [True, False])
def test_what_is_not_done_in_time_is_handed_back_without_spending_a_retry(
    start: Callable[..., Process], twice: bool
) -> None:
    process = start("--stop-seconds", "60" if twice else "0.2")
    jid = process.put(30)
    process.started()
    process.process.send_signal(signal.SIGTERM)
    if twice:
        until(lambda: "stops" in (process.process.stderr.readline() if process.process.stderr else ""))
        process.process.send_signal(signal.SIGTERM)
    code, _ = process.end()
    job = process.client.jobs[jid].get()
    assert job is not None
    assert (code, job.state, job.remaining, job.worker) == (0, "stalled", 3, "")


@pytest.mark.slow
def test_a_killed_workers_job_comes_back_by_itself(start: Callable[..., Process]) -> None:
    process = start()
    process.client.config.set("heartbeat", 0.5)
    process.client.config.set("grace-period", 0.2)
    jid = process.put(0.5)
    process.started()
    process.process.kill()
    process.end()
    other = start()
    until(lambda: (job := process.client.jobs[jid].get()) and job.state == "complete")
    job = process.client.jobs[jid].get()
    assert job is not None
    assert (job.attempt, [entry.what for entry in job.history].count("timed-out")) == (2, 1)
    assert other.process.poll() is None


@pytest.mark.slow
def test_a_worker_that_stood_still_cannot_finish_what_another_has_taken_over(start: Callable[..., Process]) -> None:
    still = start("--name", "still")
    still.client.config.set("heartbeat", 0.5)
    still.client.config.set("grace-period", 0.2)
    jid = still.put(0.1)
    still.started()
    still.process.send_signal(signal.SIGSTOP)
    assert still.client.jobs[jid].get().worker == "still"  # type: ignore[union-attr]
    start("--name", "awake")
    until(lambda: still.client.jobs[jid].get().state == "complete")  # type: ignore[union-attr]
    taken_over = still.client.jobs[jid].get()
    still.process.send_signal(signal.SIGCONT)
    still.process.send_signal(signal.SIGTERM)
    code, error = still.end()
    assert code == 0
    assert any(told in error for told in ("no longer this worker's", "comes too late", "was refused")), error
    assert still.client.jobs[jid].get() == taken_over
    assert still.client.check() == []
