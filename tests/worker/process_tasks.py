"""What the tests of jobs in processes run: each process imports it."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import time

from stanchion import App, Constant, current_job
from stanchion.errors import BadArgument

app = App("sqlite://")


def note(folder: str, text: object) -> None:
    """Tell the test that it has come this far."""
    with open(os.path.join(folder, "notes"), "a") as file:
        file.write(f"{text}\n")


@app.task
def add(a: int, b: int) -> int:
    return a + b


@app.task
async def later(a: int) -> int:
    await asyncio.sleep(0)
    return a


@app.task
def pid() -> int:
    return os.getpid()


@app.task
def no_json() -> object:
    return object()


@app.task(backoff=Constant(0), retries=5)
def die(how: str) -> None:
    print("last words")
    if how == "SIGKILL":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "SIGSEGV":
        ctypes.string_at(0)
    elif how == "exit 7":
        os._exit(7)


@app.task(retries=1, backoff=Constant(0))
def die_once(folder: str) -> str:
    if current_job().attempt == 1:
        note(folder, os.getpid())
        os.kill(os.getpid(), signal.SIGKILL)
    return "second"


@app.task(retries=0, timeout=0.1)
def sleepy() -> None:
    time.sleep(60)


@app.task(retries=0, timeout=0.1)
async def drowsy() -> None:
    await asyncio.sleep(60)


@app.task(retries=0, timeout=0.1)
def deaf() -> None:
    while True:
        try:
            time.sleep(60)
        except TimeoutError:
            continue


@app.task
def logs() -> bool:
    job = current_job()
    job.log("halfway", {"at": 1})
    return job.heartbeat() > 0


@app.task
def settles() -> None:
    current_job().complete(result="mine")


@app.task
def unknown_tag() -> str:
    try:
        current_job().tag("")
    except BadArgument as error:
        return type(error).__name__
    return "nothing"


@app.task
def waits(folder: str) -> None:
    note(folder, os.getpid())
    try:
        time.sleep(60)
    except BaseException as error:
        note(folder, type(error).__name__)
        raise


@app.task
async def awaits(folder: str) -> None:
    note(folder, os.getpid())
    try:
        await asyncio.sleep(60)
    except BaseException as error:
        note(folder, type(error).__name__)
        raise


@app.task
def hostile() -> None:
    os.chdir("/")
    os.umask(0o777)
    os.environ["HOSTILE"] = "yes"
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 3600)
    sys.stdout.close()


@app.task
def surroundings() -> list[object]:
    umask = os.umask(0)
    os.umask(umask)
    timer = signal.getitimer(signal.ITIMER_REAL)[0]
    ignored = signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    return [os.getcwd(), umask, os.environ.get("HOSTILE"), timer, ignored]


@app.task
def leaves_a_process() -> int:
    return subprocess.Popen(["setsid", "sleep", "1000"]).pid


@app.task
def talks(megabytes: int) -> None:
    for _ in range(megabytes):
        print("x" * 2**20)


@app.task(retries=-1, backoff=Constant(0))
def tells_its_times(folder: str, number: int) -> int:
    """One line as it begins: which job, which attempt, which process, when."""
    job = current_job()
    with open(os.path.join(folder, "times"), "a") as file:
        file.write(f"{number} {job.attempt} {os.getpid()} {time.monotonic()}\n")
    time.sleep(0.02)
    return number
