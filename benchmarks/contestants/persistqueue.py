"""persist-queue's two SQLite queues: the one that is acknowledged, and the plain one."""

from __future__ import annotations

from typing import Any, ClassVar

from persistqueue import Empty, FIFOSQLiteQueue, SQLiteAckQueue

from benchmarks.contestants.contract import Contestant, Data, Facts, Site, Task, loop_command

_DURABLE = "as it is: WAL, and SQLite's own default, synchronous=FULL"
_FAST = "`PRAGMA synchronous=NORMAL` on its private connections; it has no option for that"
_WORKER = "none: our loop with N threads, which looks again after 10 ms when there is nothing"
_NO_BULK = "it has no bulk call: each put commits, with auto_commit off too"
_BUSY_SECONDS = 60.0


def _set_up(queue: Any, site: Site) -> Any:
    if site.durability == "fast":
        for connection in {queue._putter, queue._getter}:
            connection.execute("PRAGMA synchronous=NORMAL")
    return queue


def _synchronous(queue: Any) -> int:
    return int(queue._putter.execute("PRAGMA synchronous").fetchone()[0])


class AckQueue(Contestant):
    """``put``, ``get`` and ``ack``."""

    facts = Facts(
        title="persist-queue SQLiteAckQueue",
        package="persist-queue",
        delivery="at least once: what was not acknowledged comes back when the queue is opened again; finished jobs are kept",
        at_most_once=False,
        durable=_DURABLE,
        fast=_FAST,
        worker=_WORKER,
        lacks={"put_many": _NO_BULK, "pop_complete_many": "it takes and acknowledges one job at a time"},
        note="`multithreading=True`, its default serializer (pickle).",
    )

    def __init__(self, site: Site) -> None:
        self._queue = _set_up(SQLiteAckQueue(str(site.folder), multithreading=True, timeout=_BUSY_SECONDS), site)

    def put(self, data: Data) -> None:
        self._queue.put(data)

    def pop_complete(self, task: Task) -> bool:
        try:
            taken = self._queue.get(block=False, raw=True)
        except Empty:
            return False
        task(taken["data"])
        self._queue.ack(id=taken["pqid"])
        return True

    def left(self) -> int:
        return int(self._queue.active_size())

    def synchronous(self) -> int:
        return _synchronous(self._queue)

    @staticmethod
    def worker_command(threads: int) -> list[str]:
        return loop_command("persist-ack", threads)

    def close(self) -> None:
        self._queue.close()


class FIFOQueue(Contestant):
    """``put`` and ``get``; in batches, ``get`` and one ``task_done`` with ``auto_commit`` off."""

    facts: ClassVar[Facts] = Facts(
        title="persist-queue FIFOSQLiteQueue",
        package="persist-queue",
        delivery="at most once: a job is deleted when it is taken, and lost if the worker dies",
        at_most_once=True,
        durable=_DURABLE,
        fast=_FAST,
        worker=_WORKER,
        lacks={"put_many": _NO_BULK},
        note="`multithreading=True`, its default serializer (pickle). Batches: `auto_commit=False`, for one consumer only;"
        " `task_done` deletes what was taken.",
    )

    def __init__(self, site: Site) -> None:
        self._site = site
        self._queue = self._open(auto_commit=True)
        self._batched: Any = None

    def _open(self, *, auto_commit: bool) -> Any:
        folder = str(self._site.folder)
        queue = FIFOSQLiteQueue(folder, multithreading=True, timeout=_BUSY_SECONDS, auto_commit=auto_commit)
        return _set_up(queue, self._site)

    def put(self, data: Data) -> None:
        self._queue.put(data)

    def pop_complete(self, task: Task) -> bool:
        try:
            task(self._queue.get(block=False))
        except Empty:
            return False
        return True

    def pop_complete_many(self, count: int, task: Task) -> int:
        if self._batched is None:
            self._batched = self._open(auto_commit=False)
        taken = 0
        try:
            while taken < count:
                task(self._batched.get(block=False))
                taken += 1
        except Empty:
            pass
        self._batched.task_done()
        return taken

    def left(self) -> int:
        return int(self._queue.size)

    def synchronous(self) -> int:
        return _synchronous(self._queue)

    @staticmethod
    def worker_command(threads: int) -> list[str]:
        return loop_command("persist-fifo", threads)

    def close(self) -> None:
        self._queue.close()
        if self._batched is not None:
            self._batched.close()
