"""Huey on its SQLite storage. It takes a job out before the job is run, so there is nothing to settle."""

from __future__ import annotations

import sys
from typing import ClassVar

from huey import SqliteHuey

from benchmarks.contestants.contract import Contestant, Data, Facts, Site, Task

_FACTS = Facts(
    title="Huey",
    package="huey",
    delivery="at most once: a job is deleted when it is taken, and lost if the worker dies",
    at_most_once=True,
    durable="`SqliteHuey(fsync=True)`: WAL, synchronous=FULL, which is SQLite's default too",
    fast="`PRAGMA synchronous=NORMAL` on `huey.storage.conn`; it has no option for that",
    worker="`huey_consumer -k thread -w N -q`, defaults otherwise; it polls every 0.1 s, and ever less often up to 10 s",
    lacks={
        "put_many": "it has no bulk call: enqueueing a group enqueues its tasks one by one",
        "pop_complete_many": "it takes one job at a time",
    },
)


class HueyQueue(Contestant):
    """A task is called to put it, and ``huey.dequeue`` takes it."""

    facts: ClassVar[Facts] = _FACTS
    app: ClassVar[str] = "huey_app"
    normal_sync: ClassVar[bool] = True

    def __init__(self, site: Site, task: Task = lambda data: None) -> None:
        self.huey = SqliteHuey("bench", filename=str(site.folder / "huey.db"), fsync=site.durability == "durable")
        if site.durability == "fast" and self.normal_sync:
            self.huey.storage.conn.execute("PRAGMA synchronous=NORMAL")

        # A worker's huey must know the task by the name under which it was put. It returns None: no result is kept.
        @self.huey.task(name="noop")
        def noop(data: Data) -> None:
            task(data)

        self._noop = noop

    def put(self, data: Data) -> None:
        self._noop(data)

    def pop_complete(self, task: Task) -> bool:
        taken = self.huey.dequeue()
        if taken is None:
            return False
        task(taken.args[0])
        return True

    def left(self) -> int:
        return int(self.huey.pending_count())

    def synchronous(self) -> int:
        return int(self.huey.storage.conn.execute("PRAGMA synchronous").fetchone()[0])

    @classmethod
    def worker_command(cls, threads: int) -> list[str]:
        app = f"benchmarks.workers.{cls.app}.huey"
        return [sys.executable, "-m", "huey.bin.huey_consumer", app, "-k", "thread", "-w", str(threads), "-q"]

    def close(self) -> None:
        self.huey.storage.close()


class HueyWithoutSync(HueyQueue):
    """The documented ``fsync=False``, which is weaker than what the others do when they are fast."""

    facts = _FACTS._replace(
        title="Huey, fsync=False",
        durable=None,
        fast="`SqliteHuey(fsync=False)`: WAL, synchronous=OFF",
        is_peer=False,
        note="With synchronous=OFF a power cut may damage the file, not only take the newest changes: not compared with.",
    )
    app = "huey_nosync_app"
    normal_sync = False
