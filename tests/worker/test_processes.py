"""Jobs in processes: real ones, which die of real causes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import App, Handle, Worker
from stanchion.records import Job
from stanchion.worker import CannotStart
from tests.worker import process_tasks as tasks
from tests.worker.waiting import until

pytestmark = pytest.mark.slow


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    tasks.app.use(f"sqlite:///{tmp_path}/jobs.db?durability=fast")
    yield tasks.app
    tasks.app.close()


@pytest.fixture
def running(app: App) -> Iterator[Callable[..., Worker]]:
    """Start workers on threads; they are stopped when the test ends."""
    started: list[tuple[Worker, threading.Thread]] = []

    def start(*queues: str, **options: Any) -> Worker:
        worker = Worker(app, queues or ("default=process:1",), **options)
        thread = threading.Thread(target=worker.run)
        thread.start()
        started.append((worker, thread))
        return worker

    yield start
    for worker, thread in started:
        worker.stop()
        worker.stop()
        thread.join(20)
        assert not thread.is_alive()


def drain(app: App, processes: int = 1, **options: Any) -> int:
    return Worker(app, [f"default=process:{processes}"], **options).run(burst=True)


def job_of(handle: Handle[Any]) -> Job:
    job = handle.get()
    assert job is not None
    return job


def notes(folder: Path) -> list[str]:
    file = folder / "notes"
    return file.read_text().split() if file.exists() else []


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children() -> set[int]:
    return {int(pid) for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()}


def test_results_come_back_as_values(app: App) -> None:
    handles = [tasks.add.put(2, 3), tasks.later.put(4)]
    odd = tasks.no_json.put()
    assert drain(app, 2) == 3
    assert [handle.result(1) for handle in handles] == [5, 4]
    assert app.client.failures.groups() == {"default-unencodable-result": 1}
    assert "object" in job_of(odd).failure.message  # type: ignore[union-attr]


def test_a_process_is_warm_and_recycled(app: App) -> None:
    handles = [tasks.pid.put() for _ in range(6)]
    drain(app, jobs_per_process=3)
    pids = [handle.result(1) for handle in handles]
    assert (len(set(pids[:3])), len(set(pids[3:])), len(set(pids))) == (1, 1, 2)


def test_a_process_that_takes_too_much_memory_is_recycled(app: App) -> None:
    handles = [tasks.pid.put() for _ in range(2)]
    worker = Worker(app, ["default=process:1"], jobs_per_process=100)
    worker._recycling = worker._recycling._replace(memory=1)
    worker.run(burst=True)
    assert len({handle.result(1) for handle in handles}) == 2


@pytest.mark.parametrize("how", ["SIGKILL", "SIGSEGV", "exit 7"])
def test_a_job_that_kills_its_process_is_tried_three_times_and_put_aside(app: App, how: str) -> None:
    handle, other = tasks.die.put(how), tasks.add.put(1, 1)
    drain(app)
    job = job_of(handle)
    assert job.failure is not None
    assert (job.state, job.attempt, job.failure.group) == ("failed", 3, "killed-its-worker")
    entries = [entry.more for entry in job.history if entry.what == "killed-its-worker"]
    assert [(entry["attempt"], entry["cause"]) for entry in entries] == [(1, how), (2, how), (3, how)]
    assert all(entry["peak"] > 2**20 for entry in entries)
    assert "last words" in entries[0]["output"]
    if how == "SIGSEGV":
        assert "in die" in job.failure.message, "the stack is told"
    assert other.result(1) == 2


def test_a_crash_spends_a_retry_and_the_job_comes_back_at_once(app: App, tmp_path: Path) -> None:
    handle = tasks.die_once.put(str(tmp_path))
    began = time.monotonic()
    drain(app)
    assert (handle.result(1), job_of(handle).remaining) == ("second", 0)
    assert time.monotonic() - began < 10  # a lock would last a minute


@pytest.mark.parametrize("task", [tasks.sleepy, tasks.drowsy])
def test_code_in_a_process_is_broken_into_when_its_time_is_over(app: App, task: Any) -> None:
    handle = task.put()
    drain(app)
    failure = job_of(handle).failure
    assert failure is not None
    assert (failure.group, "killed" in failure.message) == ("default-TimeoutError", False)


def test_code_that_does_not_heed_its_timeout_is_killed_and_its_stack_told(app: App) -> None:
    handle, other = tasks.deaf.put(), tasks.add.put(1, 1)
    drain(app)
    failure = job_of(handle).failure
    assert failure is not None
    assert failure.group == "default-TimeoutError"
    assert "was killed" in failure.message
    assert "in deaf" in failure.message
    assert other.result(1) == 2


def test_the_jobs_own_calls_are_made_by_the_worker(app: App) -> None:
    logs, settles, wrong = tasks.logs.put(), tasks.settles.put(), tasks.unknown_tag.put()
    drain(app)
    assert logs.result(1) is True
    assert [entry.more for entry in job_of(logs).history if entry.what == "halfway"] == [{"at": 1}]
    assert job_of(settles).result == '"mine"'
    assert wrong.result(1) == "BadArgument"


@pytest.mark.parametrize(("task", "told"), [(tasks.waits, "LeaseLost"), (tasks.awaits, "CancelledError")])
def test_a_job_that_lost_its_lock_is_told(
    app: App, running: Callable[..., Worker], tmp_path: Path, task: Any, told: str
) -> None:
    app.client.config.set("heartbeat", 0.3)
    handle = task.put(str(tmp_path))
    running()
    until(lambda: notes(tmp_path))
    app.client.queues["default"].pause()
    app.client.jobs[handle.jid].move("elsewhere")
    until(lambda: told in notes(tmp_path))
    assert job_of(handle).queue == "elsewhere"


def test_a_stop_hands_the_job_back_once_its_code_has_ended(app: App, running: Callable[..., Worker], tmp_path: Path) -> None:
    handle = tasks.waits.put(str(tmp_path))
    worker = running(stop_seconds=0)
    until(lambda: notes(tmp_path))
    worker.stop()
    until(lambda: job_of(handle).state == "stalled")
    assert notes(tmp_path)[1:] == ["LeaseLost"]
    assert (job_of(handle).remaining, job_of(handle).history[-1].what) == (5, "timed-out")


def test_the_next_job_starts_clean(app: App) -> None:
    before, hostile, after = tasks.surroundings.put(), tasks.hostile.put(), tasks.surroundings.put()
    drain(app)
    assert hostile.result(1) is None
    assert after.result(1) == before.result(1)


def test_nothing_that_a_job_started_outlives_it(app: App) -> None:
    handle = tasks.leaves_a_process.put()
    drain(app)
    assert not alive(handle.result(1))


def test_output_never_blocks_a_job(app: App, capfd: pytest.CaptureFixture[str]) -> None:
    handle = tasks.talks.put(8)
    drain(app)
    assert handle.result(1) is None
    assert len(capfd.readouterr().err) > 8 * 2**20


def test_nothing_is_left_behind(app: App) -> None:
    app.client.wait(["default"], 0)  # the store's own thread, and its descriptors, come with the first wait
    tasks.add.put(1, 1)
    drain(app)
    files, before = len(os.listdir("/proc/self/fd")), children()
    tasks.die.put("SIGKILL")
    drain(app, 2)
    assert (len(os.listdir("/proc/self/fd")), children()) == (files, before)


def test_a_server_that_dies_is_replaced_and_its_childrens_jobs_are_tried_again(
    app: App, running: Callable[..., Worker], tmp_path: Path
) -> None:
    before = children()
    running()
    handle = tasks.waits.options(retries=1).put(str(tmp_path))
    until(lambda: notes(tmp_path))
    (server,) = children() - before
    os.kill(server, signal.SIGKILL)
    until(lambda: len(notes(tmp_path)) == 2)
    first, second = map(int, notes(tmp_path))
    assert (alive(first), alive(second), job_of(handle).attempt) == (False, True, 2)


def test_an_app_that_others_cannot_import_is_an_error_of_the_start() -> None:
    with pytest.raises(CannotStart, match="global variable"):
        Worker(App("sqlite://"), ["q=process"]).run(burst=True)


def test_an_app_that_fails_to_import_is_an_error_of_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fragile.py").write_text('from stanchion import App\napp = App("sqlite://")\n')
    monkeypatch.syspath_prepend(tmp_path)
    import fragile  # type: ignore[import-not-found]

    monkeypatch.setitem(sys.modules, "fragile", fragile)
    (tmp_path / "fragile.py").write_text('raise RuntimeError("not twice")\n')
    with pytest.raises(CannotStart, match="not twice"):
        Worker(fragile.app, ["q=process"]).run(burst=True)
    fragile.app.close()


def test_an_app_that_starts_threads_gets_fresh_interpreters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork would copy the lock that the thread holds."""
    (tmp_path / "threaded.py").write_text(
        "import threading\n"
        "from stanchion import App\n"
        f"app = App('sqlite:///{tmp_path}/jobs.db?durability=fast')\n"
        "lock = threading.Lock()\n"
        "def hold():\n    with lock:\n        threading.Event().wait()\n"
        "threading.Thread(target=hold, daemon=True).start()\n"
        "@app.task\n"
        "def threads() -> int:\n    return threading.active_count()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import threaded  # type: ignore[import-not-found]

    monkeypatch.setitem(sys.modules, "threaded", threaded)
    handle = threaded.threads.put()
    assert Worker(threaded.app, ["default=process:1"]).run(burst=True) == 1
    assert handle.result(1) == 3  # the main thread, the pipe's, and that of the module: all alive
    threaded.app.close()
