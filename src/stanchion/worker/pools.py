"""The pools of a worker's lanes, of whatever kind."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from stanchion.tasks.app import App
from stanchion.tasks.registry import Runnable
from stanchion.worker.active import ActiveJob
from stanchion.worker.aio import LoopThread
from stanchion.worker.lanes import Lane
from stanchion.worker.perform import Report, on_loop, on_thread
from stanchion.worker.process.nursery import Nursery
from stanchion.worker.process.pool import ProcessPool
from stanchion.worker.process.tender import Recycling, Work
from stanchion.worker.threads import ThreadPool


class Pools:
    """Runs jobs where their lanes say. Threads and coroutines run in this process; coroutines of all lanes share one loop."""

    def __init__(self, app: App, lanes: Sequence[Lane], recycling: Recycling) -> None:
        self._aio = LoopThread()
        self._nursery: Nursery | None = None
        if any(lane.kind == "process" for lane in lanes):
            self._nursery = Nursery(app)
            self._nursery.open()  # before any job is taken: an app that cannot be imported is an error of the start
        self._pools = [self._pool(lane, recycling) for lane in lanes]

    def start(self, lane: int, job: ActiveJob, runnable: Runnable, report: Report) -> Callable[[], None]:
        """Run a job's code on a lane, and report the outcome. The answer is to be called when the job's lock is lost."""
        pool = self._pools[lane]
        if isinstance(pool, ProcessPool):
            return pool.submit(Work(job, runnable.timeout, report))
        if runnable.timeout is not None:
            job.lease.deadline = time.monotonic() + runnable.timeout
        if runnable.is_async(job.queue):
            return self._aio.submit(on_loop(job, runnable, report))
        run, interrupt = on_thread(job, runnable, report)
        pool.submit(run)
        return interrupt

    def resize_first(self, slots: int) -> None:
        """Let the first lane run so many jobs at once."""
        self._pools[0].resize(slots)

    def dump(self) -> None:
        """Let all processes of the lanes write the stacks of their threads."""
        for pool in self._processes():
            pool.dump()

    def halt(self) -> None:
        """End the processes' jobs, whose locks are lost: when this returns, none of them runs any more."""
        for pool in self._processes():
            pool.halt()

    def close(self) -> None:
        """End what runs nothing, cancel coroutines, and leave no process behind."""
        for pool in self._pools:
            pool.close()
        self._aio.close()
        if self._nursery is not None:
            self._nursery.close()

    def _pool(self, lane: Lane, recycling: Recycling) -> ThreadPool | ProcessPool:
        if lane.kind != "process" or self._nursery is None:
            return ThreadPool(lane.slots)
        return ProcessPool(self._nursery, lane.slots, recycling)

    def _processes(self) -> list[ProcessPool]:
        return [pool for pool in self._pools if isinstance(pool, ProcessPool)]
