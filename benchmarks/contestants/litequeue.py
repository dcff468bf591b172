"""litequeue. Its calls open transactions on one connection, so each thread needs a queue object of its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence

from litequeue import LiteQueue

from benchmarks.contestants.contract import Contestant, Data, Facts, Site, Task, loop_command

BUSY_SECONDS = 60.0
"""With the five seconds of sqlite3, a thread of eight can go without the lock for so long that its call fails."""


class LiteQueueQueue(Contestant):
    """``put``, ``pop`` and ``done``."""

    facts = Facts(
        title="litequeue",
        package="litequeue",
        delivery="at least once by hand: a popped job stays locked until it is done, or the program calls retry;"
        " finished jobs are kept",
        at_most_once=False,
        durable="`PRAGMA synchronous=FULL` on `queue.conn`; it has no option for that",
        fast="as it is: WAL, synchronous=NORMAL, 256 MB cache",
        worker="none: our loop with N threads, which looks again after 10 ms when there is nothing",
        lacks={"pop_complete_many": "`pop` opens a transaction of its own, so that several cannot share one"},
        note="A queue object for each thread, with a busy timeout of 60 s. Bulk: puts in its `transaction()`.",
    )

    def __init__(self, site: Site) -> None:
        self._site = site
        self._of_thread = threading.local()
        self._open: list[LiteQueue] = []
        self._queue()

    def _queue(self) -> LiteQueue:
        queue: LiteQueue | None = getattr(self._of_thread, "queue", None)
        if queue is None:
            queue = self._of_thread.queue = LiteQueue(str(self._site.folder / "lite.db"), timeout=BUSY_SECONDS)
            if self._site.durability == "durable":
                queue.conn.execute("PRAGMA synchronous=FULL")
            self._open.append(queue)
        return queue

    def put(self, data: Data) -> None:
        self._queue().put(json.dumps(data))

    def put_many(self, batch: Sequence[Data]) -> None:
        queue = self._queue()
        with queue.transaction("IMMEDIATE"):
            for data in batch:
                queue.put(json.dumps(data))

    def pop_complete(self, task: Task) -> bool:
        queue = self._queue()
        message = queue.pop()
        if message is None:
            return False
        task(json.loads(message.data))
        queue.done(message.message_id)
        return True

    def left(self) -> int:
        return self._queue().qsize()

    def synchronous(self) -> int:
        return int(self._queue().conn.execute("PRAGMA synchronous").fetchone()[0])

    @staticmethod
    def worker_command(threads: int) -> list[str]:
        return loop_command("litequeue", threads)

    def close(self) -> None:
        for queue in self._open:
            queue.close()
