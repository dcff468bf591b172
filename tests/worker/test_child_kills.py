"""Processes for jobs are killed under load: every job is done, each repeat is explained, and nothing is left behind."""

from __future__ import annotations

import os
import random
import signal
import threading
from pathlib import Path
from typing import NamedTuple

import pytest

from stanchion import Worker
from tests.worker import process_tasks as tasks
from tests.worker.waiting import until

pytestmark = pytest.mark.live

JOBS = 3000
KILLS = 300
PROCESSES = 4


class Began(NamedTuple):
    job: int
    attempt: int
    pid: int
    when: float


def began(folder: Path) -> list[Began]:
    lines = (folder / "times").read_text().splitlines() if (folder / "times").exists() else []
    return [
        Began(int(job), int(attempt), int(pid), float(when)) for job, attempt, pid, when in (line.split() for line in lines)
    ]


def kill_now_and_then(folder: Path, server: int, over: threading.Event) -> None:
    """Kill one of the server's children, when each of the last kills was followed by a new beginning."""
    kills = 0
    while kills < KILLS and not over.is_set():
        pids = Path(f"/proc/{server}/task/{server}/children").read_text().split()
        if pids:
            with open(folder / "kills", "a") as file:
                file.write("x")
            try:
                os.kill(int(random.choice(pids)), signal.SIGKILL)
            except ProcessLookupError:
                continue
            kills += 1
        over.wait(random.uniform(0.0, 0.06))


def test_every_job_is_done_however_many_processes_are_killed(tmp_path: Path) -> None:
    tasks.app.use(f"sqlite:///{tmp_path}/jobs.db?durability=fast")
    tasks.app.client.wait(["default"], 0)
    files = len(os.listdir("/proc/self/fd"))
    ours = {int(pid) for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()}
    handles = tasks.app.put_many([tasks.tells_its_times.job(str(tmp_path), number) for number in range(JOBS)])
    worker = Worker(tasks.app, [f"default=process:{PROCESSES}"])
    thread = threading.Thread(target=worker.run, kwargs={"burst": True})
    thread.start()
    until(lambda: began(tmp_path), 60)
    (server,) = {int(pid) for f in Path("/proc/self/task").glob("*/children") for pid in f.read_text().split()} - ours
    over = threading.Event()
    killer = threading.Thread(target=kill_now_and_then, args=(tmp_path, server, over))
    killer.start()
    thread.join(300)
    over.set()
    killer.join(20)
    assert not thread.is_alive()

    jobs = [job for jid in handles if (job := tasks.app.client.jobs[jid].get()) is not None]
    aside = [
        job for job in jobs if job.failure is not None and job.failure.group == "killed-its-worker" and job.state == "failed"
    ]
    assert {job.state for job in jobs} <= {"complete", "failed"}
    assert len(jobs) == JOBS
    assert all(sum(entry.what == "killed-its-worker" for entry in job.history) == 3 for job in aside)
    for job in jobs:  # each attempt after the first is explained by a kill
        crashes = sum(entry.what == "killed-its-worker" for entry in job.history)
        assert job.attempt == crashes + (job.state == "complete")
    assert tasks.app.client.check() == []
    assert len(os.listdir("/proc/self/fd")) == files
    assert {int(pid) for f in Path("/proc/self/task").glob("*/children") for pid in f.read_text().split()} == ours
    assert [pid for pid in {line.pid for line in began(tmp_path)} if Path(f"/proc/{pid}").exists()] == []
    tasks.app.close()
