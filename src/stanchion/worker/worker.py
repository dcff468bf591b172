"""The worker: it does what the loop decides, with a client, threads and an event loop."""

from __future__ import annotations

import logging
import os
import signal
import socket
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import FrameType
from typing import NamedTuple

from stanchion.client.sync.client import Client
from stanchion.commands import Deregister
from stanchion.errors import StanchionError
from stanchion.rules.backoff import Constant
from stanchion.tasks.app import App
from stanchion.worker.active import ActiveJob
from stanchion.worker.aio import LoopThread
from stanchion.worker.keeper import LeaseKeeper
from stanchion.worker.lease import Lease
from stanchion.worker.loop import PASSING, Exchange, Leave, Loop, Sleep
from stanchion.worker.outcome import Outcome, Unknown, settle
from stanchion.worker.perform import on_loop, on_thread
from stanchion.worker.threads import ThreadPool, Watch

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


class Worker:
    """Runs the jobs of some queues on ``threads`` threads and an event loop, in this process.

    Queues are served in their order: the first is emptied before the second is looked at. ``stop_seconds`` is how long running
    jobs may go on after SIGTERM before they are handed back.
    """

    def __init__(
        self,
        app: App,
        queues: Sequence[str] = ("default",),
        *,
        threads: int = 8,
        name: str | None = None,
        stop_seconds: float = 30.0,
    ) -> None:
        if not queues or isinstance(queues, str):
            raise ValueError("a worker needs a list of queues")
        if threads < 1:
            raise ValueError("a worker needs at least one thread")
        self.name = name or f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._queues = tuple(queues)
        self._threads = threads
        self._stop_seconds = stop_seconds
        self._runnables = app.runnables
        self._client: Client = app.client
        self._inbox: SimpleQueue[_Finished | _Work | _Stop] = SimpleQueue()

    def run(self, *, burst: bool = False) -> int:
        """Work until a signal, or ``stop()``, says to stop; with ``burst`` until the queues are empty. How many jobs were run."""
        self._loop = Loop(self.name, self._queues, self._threads, self._stop_seconds, burst=burst)
        self._pool, self._aio = ThreadPool(self._threads), LoopThread()
        self._keeper = LeaseKeeper(self._client)
        self._watch = Watch(self._client, self._queues, lambda: self._inbox.put(_Work()))
        log.info("worker %s serves %s at %s", self.name, ", ".join(self._queues), self._client.url)
        try:
            self._work()
        finally:
            self._watch.close()
            self._keeper.close()
            self._pool.close()
            self._aio.close()
            self._say_goodbye()
        return self._loop.done

    def stop(self) -> None:
        """Take no more jobs and finish those that run; called again, hand them back at once. Safe in a signal handler."""
        self._inbox.put(_Stop())

    def run_with_signals(self) -> int:
        """``run``, with SIGTERM and SIGINT as ``stop``. For the main thread."""

        def stop(number: int, frame: FrameType | None) -> None:
            self.stop()

        before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            return self.run()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _work(self) -> None:
        # Always older than the last look at the queues: nothing that came after that look is slept through.
        ticket = self._client.ticket()
        while True:
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

    def _note(self, message: _Finished | _Work | _Stop) -> None:
        match message:
            case _Finished(lease, outcome):
                self._keeper.drop(lease)
                runnable = self._runnables.get(lease.job.klass)
                self._loop.finished(lease, settle(lease.job, outcome, runnable.backoff if runnable else Constant(0.0)))
            case _Work():
                self._loop.look()
            case _Stop():
                log.info("worker %s stops: %d jobs still run", self.name, self._loop.running)
                self._loop.stop(time.monotonic())

    def _exchange(self, exchange: Exchange) -> None:
        asked = time.monotonic()
        try:
            answers = self._client.run_many(exchange.commands)
        except PASSING as error:
            log.warning("the store cannot be used, trying again: %s", error)
            self._loop.unreachable(time.monotonic())
            return
        heard = self._loop.answered(exchange, answers, asked, time.monotonic())
        for settlement, reason in heard.refused:
            log.warning("%s of job %s was refused: %s", settlement.command.name, settlement.lease.job.jid, reason)
        if heard.trouble is not None:
            log.warning("the store cannot do all of it, trying again: %r", heard.trouble)
        for lease in heard.started:
            self._start(lease)

    def _start(self, lease: Lease) -> None:
        runnable = self._runnables.get(lease.job.klass)
        if runnable is None:
            self._report(lease, Unknown())
            return
        if runnable.timeout is not None:
            lease.deadline = time.monotonic() + runnable.timeout
        self._keeper.add(lease)
        job = ActiveJob(self._client.jobs.of(lease.job), lease)
        if runnable.is_async(lease.job.queue):
            self._keeper.cancel_by(lease, self._aio.submit(on_loop(job, runnable, self._report)))
        else:
            self._pool.submit(on_thread(job, runnable, self._report))

    def _report(self, lease: Lease, outcome: Outcome) -> None:
        self._inbox.put(_Finished(lease, outcome))

    def _sleep(self, sleep: Sleep, ticket: object) -> None:
        if sleep.watch:
            self._watch.ask(ticket)
        while (left := sleep.until - time.monotonic()) > 0:
            with suppress(Empty):
                self._note(self._inbox.get(timeout=min(left, SIGNAL_SECONDS)))
                return

    def _leave(self, leave: Leave) -> None:
        self._keeper.lose_all("the worker stopped")
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
