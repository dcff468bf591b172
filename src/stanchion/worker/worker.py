"""The worker: it does what the loop decides, with a client and its lanes' pools."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import socket
import threading
import time
import uuid
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple, Self

from stanchion.client.sync.client import Client
from stanchion.commands import Deregister, GetConfig
from stanchion.errors import StanchionError
from stanchion.rules.backoff import Constant
from stanchion.tasks.app import App
from stanchion.worker import signals
from stanchion.worker.active import ActiveJob
from stanchion.worker.health import Pulse, Reports, systemd
from stanchion.worker.keeper import LeaseKeeper
from stanchion.worker.lanes import lanes_of
from stanchion.worker.lease import Lease
from stanchion.worker.loop import PASSING, Exchange, Leave, Loop, Sleep
from stanchion.worker.outcome import Outcome, Unknown, settle
from stanchion.worker.pools import Pools
from stanchion.worker.process import linux
from stanchion.worker.process.tender import Recycling
from stanchion.worker.threads import Watch

log = logging.getLogger("stanchion.worker")

SIGNAL_SECONDS = 1.0
"""The longest that the main thread waits at a time: a signal that comes just before it waits is handled when that ends."""


class _Finished(NamedTuple):
    lease: Lease
    outcome: Outcome


class _Work(NamedTuple):
    """There may be something to pop."""


class _Stop(NamedTuple):
    """Someone asks to stop."""


class _Quiet(NamedTuple):
    """Someone asks to take no more jobs."""


class _Scale(NamedTuple):
    by: int


class _Dump(NamedTuple):
    """Someone asks where all code is."""


_Message = _Finished | _Work | _Stop | _Quiet | _Scale | _Dump


class Worker:
    """Runs the jobs of some queues: on ``threads`` threads and an event loop of this process, or on lanes of their own.

    ``queues`` are served in their order: the first is emptied before the second is looked at. One that says how,
    ``mail=async:100``, ``thumbs=process:2``, ``reports=thread:1``, has a lane of its own, with so many jobs at once, and waits
    for no other. ``stop_seconds`` is how long running jobs may go on after SIGTERM before they are handed back. A process is
    replaced by a fresh one after ``jobs_per_process`` jobs. After ``max_jobs`` jobs, or once this process takes ``max_memory``
    bytes, the worker stops; processes that take that much are replaced.

    ``health_file`` and ``GET /healthz`` at ``health_port`` of this machine tell whether the worker is well, and so does systemd's
    watchdog: not within ten seconds of when it stopped moving, or the store stopped answering.
    """

    def __init__(
        self,
        app: App,
        queues: Sequence[str] = ("default",),
        *,
        threads: int = 8,
        name: str | None = None,
        stop_seconds: float = 30.0,
        jobs_per_process: int = 1000,
        max_jobs: int | None = None,
        max_memory: int | None = None,
        health_file: str | os.PathLike[str] | None = None,
        health_port: int | None = None,
    ) -> None:
        self._lanes = lanes_of(queues, threads)
        self.name = name or f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._stop_seconds = stop_seconds
        self._most = math.inf if max_jobs is None else max_jobs
        self._max_memory = math.inf if max_memory is None else max_memory
        self._recycling = Recycling(jobs_per_process, self._max_memory)
        self._app = app
        self._runnables = app.runnables
        self._client: Client = app.client
        self._inbox: SimpleQueue[_Message] = SimpleQueue()
        self._pulse = Pulse()
        self._reports_to = (None if health_file is None else Path(health_file), health_port)
        self.health_port: int | None = None
        """Where its health is asked for while it runs."""

    def run(self, *, burst: bool = False) -> int:
        """Work until a signal, or ``stop()``, says to stop; with ``burst`` until the queues are empty. How many jobs were run."""
        self._loop = Loop(self.name, self._lanes, self._stop_seconds, burst=burst, most=self._most)
        self._pools = Pools(self._app, self._lanes, self._recycling)
        self._keeper = LeaseKeeper(self._client, self._pulse.hear)
        self._watches = [Watch(self._client, lane.queues, lambda: self._inbox.put(_Work())) for lane in self._lanes]
        queues = ", ".join(queue for lane in self._lanes for queue in lane.queues)
        log.info("worker %s serves %s at %s", self.name, queues, self._client.url)
        try:
            with closing(Reports(self._pulse.problems, *self._reports_to)) as reports:
                self.health_port = reports.port
                self._work()
        finally:
            for watch in self._watches:
                watch.close()
            self._keeper.close()
            self._pools.close()
            self._say_goodbye()
        return self._loop.done

    def __enter__(self) -> Self:
        """Work on a thread beside the caller's, until the block ends: then the jobs that run may finish, as after ``stop()``."""
        self._thread = threading.Thread(target=self.run, name="stanchion-worker")
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()
        self._thread.join()

    async def __aenter__(self) -> Self:
        """The same beside an event loop, which goes on while the worker comes to its end."""
        return self.__enter__()

    async def __aexit__(self, *exc: object) -> None:
        self.stop()
        await asyncio.to_thread(self._thread.join)

    def stop(self) -> None:
        """Take no more jobs and finish those that run; called again, hand them back at once. Safe in a signal handler."""
        self._inbox.put(_Stop())

    def quiet(self) -> None:
        """Take no more jobs, and finish those that run, but do not end. Safe in a signal handler."""
        self._inbox.put(_Quiet())

    def scale(self, by: int) -> None:
        """Let the first lane run so many more jobs at once, or fewer. Safe in a signal handler."""
        self._inbox.put(_Scale(by))

    def dump_stacks(self) -> None:
        """Write the stacks of all processes' threads to the standard error stream. Safe in a signal handler."""
        self._inbox.put(_Dump())

    def run_with_signals(self, *, burst: bool = False) -> int:
        """``run``, with signals: see :mod:`stanchion.worker.signals`. For the main thread."""
        with signals.handled_by(self):
            return self.run(burst=burst)

    def _work(self) -> None:
        # Always older than the last look at the queues: nothing that came after that look is slept through.
        ticket = self._client.ticket()
        while True:
            self._pulse.move()
            self._collect()
            now = time.monotonic()
            for late in self._loop.give_up(now):
                log.warning("%s of job %s comes too late: its lock has lapsed", late.command.name, late.lease.job.jid)
            match self._loop.step(now):
                case Exchange() as exchange:
                    self._exchange(exchange)
                case Sleep() as sleep:
                    self._sleep(sleep, ticket)
                    ticket = self._client.ticket()
                case Leave() as leave:
                    self._leave(leave)
                case _:
                    return

    def _collect(self) -> None:
        with suppress(Empty):
            while True:
                self._note(self._inbox.get_nowait())

    def _note(self, message: _Message) -> None:
        match message:
            case _Finished(lease, outcome):
                self._keeper.drop(lease)
                runnable = self._runnables.get(lease.job.klass)
                self._loop.finished(lease, settle(lease.job, outcome, runnable.backoff if runnable else Constant(0.0)))
                if linux.memory() > self._max_memory:
                    self._stop("it takes too much memory")
            case _Work():
                self._loop.look()
            case _Stop():
                self._stop("it was told to")
            case _Quiet():
                log.info("worker %s takes no more jobs: %d still run", self.name, self._loop.running)
                self._loop.be_quiet()
            case _Scale(by):
                slots = self._loop.scale(by)
                self._pools.resize_first(slots)
                log.info("worker %s runs %d jobs at once on its first lane", self.name, slots)
            case _Dump():
                self._pools.dump()

    def _stop(self, why: str) -> None:
        log.info("worker %s stops, since %s: %d jobs still run", self.name, why, self._loop.running)
        self._loop.stop(time.monotonic())

    def _exchange(self, exchange: Exchange) -> None:
        asked = time.monotonic()
        try:
            answers = self._client.run_many(exchange.commands)
        except PASSING as error:
            log.warning("the store cannot be used, trying again: %s", error)
            self._loop.unreachable(time.monotonic())
            return
        self._pulse.hear()
        heard = self._loop.answered(exchange, answers, asked, time.monotonic())
        for settlement, reason in heard.refused:
            log.warning("%s of job %s was refused: %s", settlement.command.name, settlement.lease.job.jid, reason)
        if heard.trouble is not None:
            log.warning("the store cannot do all of it, trying again: %r", heard.trouble)
        for lane, lease in heard.started:
            self._start(lane, lease)

    def _start(self, lane: int, lease: Lease) -> None:
        runnable = self._runnables.get(lease.job.klass)
        if runnable is None:
            self._report(lease, Unknown())
            return
        self._keeper.add(lease)
        job = ActiveJob(self._client.jobs.of(lease.job), lease)
        self._keeper.cancel_by(lease, self._pools.start(lane, job, runnable, self._report))

    def _report(self, lease: Lease, outcome: Outcome) -> None:
        self._inbox.put(_Finished(lease, outcome))

    def _sleep(self, sleep: Sleep, ticket: object) -> None:
        for lane in sleep.watch:
            self._watches[lane].ask(ticket)
        while (left := sleep.until - time.monotonic()) > 0:
            with suppress(Empty):
                self._note(self._inbox.get(timeout=min(left, SIGNAL_SECONDS)))
                return
            self._pulse.move()
            if self._is_watched and self._pulse.is_silent():
                self._ask_store()
                return

    @property
    def _is_watched(self) -> bool:
        return any(one is not None for one in (*self._reports_to, systemd.watchdog_seconds()))

    def _ask_store(self) -> None:
        """Hear of the store, though there is nothing to ask it: by looking into the queues, if there is room for jobs."""
        self._loop.look()
        if not isinstance(self._loop.step(time.monotonic()), Exchange):
            with suppress(*PASSING):
                self._client.run(GetConfig("heartbeat"))
                self._pulse.hear()

    def _leave(self, leave: Leave) -> None:
        self._keeper.lose_all("the worker stopped")
        self._pools.halt()
        now = time.monotonic()
        leave = leave._replace(leases=tuple(lease for lease in leave.leases if now < lease.ends))
        try:
            answers = self._client.run_many(leave.commands)
        except StanchionError as error:
            log.warning("worker %s could not hand back its jobs, their locks will lapse: %s", self.name, error)
        else:
            handed = sum(answer.error is None for answer in answers[len(leave.settlements) :])
            log.warning("worker %s handed back %d jobs that were not done", self.name, handed)
        self._loop.left()

    def _say_goodbye(self) -> None:
        try:
            self._client.run(Deregister((self.name,)))
        except StanchionError as error:
            log.warning("worker %s could not deregister: %s", self.name, error)
