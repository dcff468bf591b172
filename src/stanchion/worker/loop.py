"""The worker's loop: take jobs, run them, settle what came of them, in as few round trips as there are."""

from __future__ import annotations

import inspect
import logging
import math
import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, NamedTuple

from stanchion.client.sync.client import Client
from stanchion.client.sync.jobs import JobHandle
from stanchion.commands import Command, Deregister, Pop, Timeout
from stanchion.errors import OutcomeUnknown, Refused, Retryable, StanchionError
from stanchion.records import Job
from stanchion.rules.backoff import Constant
from stanchion.tasks.app import App
from stanchion.worker import leases, perform
from stanchion.worker.active import ActiveJob
from stanchion.worker.keeper import LeaseKeeper
from stanchion.worker.outcome import Outcome, Unknown, raised, settle
from stanchion.worker.threads import LoopThread, ThreadPool

log = logging.getLogger("stanchion.worker")

IDLE_SECONDS = 60.0
"""The longest sleep of an idle worker. It is woken by puts and by the times of scheduled jobs; this bound is for safety."""

SIGNAL_SECONDS = 1.0
"""The longest that the main thread waits at a time: a signal that comes just before it waits is handled when that ends."""

TROUBLE_SECONDS = 0.5
"""The pause after the store could not be reached."""


class _Finished(NamedTuple):
    job: ActiveJob
    outcome: Outcome


class _Work(NamedTuple):
    """There may be something to pop."""


class _Stop(NamedTuple):
    """A signal asks to stop."""


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
        self._tickets: SimpleQueue[object] = SimpleQueue()
        self._watching = False
        self._stops = 0

    def run(self, *, burst: bool = False) -> int:
        """Work until a signal, or ``stop()``, says to stop; with ``burst`` until the queues are empty. How many jobs were run."""
        self._pool, self._loop = ThreadPool(self._threads), LoopThread()
        self._keeper = LeaseKeeper(self._client)
        self._running: dict[ActiveJob, _Running] = {}
        self._unsettled: list[_Settlement] = []
        threading.Thread(target=self._watch, name="stanchion-watch", daemon=True).start()
        log.info("worker %s serves %s at %s", self.name, ", ".join(self._queues), self._client.url)
        try:
            return self._work(burst)
        finally:
            self._keeper.close()
            self._pool.close()
            self._loop.close()
            self._tickets.put(None)
            self._say_goodbye()

    def stop(self) -> None:
        """Take no more jobs and finish those that run; called again, hand them back at once. Safe in a signal handler."""
        self._stops += 1
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

    def _work(self, burst: bool) -> int:
        done = 0
        deadline: float | None = None
        while True:
            ticket = self._client.ticket()
            started = self._turn()
            done += started
            if self._stops and deadline is None:  # after the turn: a signal can come in the middle of it
                deadline = time.monotonic() + self._stop_seconds
                log.info("worker %s stops: %d jobs still run", self.name, len(self._running))
            if deadline is not None and (not self._running or self._stops > 1 or time.monotonic() >= deadline):
                self._hand_back()
                return done
            idle = started == 0 and not self._unsettled
            if burst and idle and not self._running:
                return done
            if idle:
                self._sleep(ticket, deadline)

    def _turn(self) -> int:
        """Settle what is finished and take what there is room for; how many jobs were started."""
        self._collect()
        free = 0 if self._stops else self._threads - len(self._running)
        popped: list[Job] = []
        for index, queue in enumerate(self._queues):
            if len(popped) < free or (index == 0 and self._unsettled):
                popped += self._exchange(queue, free - len(popped))
        for job in popped:
            self._start(job)
        return len(popped)

    def _collect(self) -> None:
        """Turn the outcomes that have come into settlements."""
        while True:
            try:
                message = self._inbox.get_nowait()
            except Empty:
                return
            self._note(message)

    def _note(self, message: _Finished | _Work | _Stop) -> None:
        if isinstance(message, _Work):
            self._watching = False
        elif isinstance(message, _Finished):
            running = self._running.pop(message.job)
            lease = self._keeper.drop(message.job)
            command = settle(message.job.record, message.outcome, running.backoff)
            if command is not None and lease is not None:
                self._unsettled.append(_Settlement(command, lease))

    def _exchange(self, queue: str, wanted: int) -> list[Job]:
        """One round trip: settle what is to be settled, and pop."""
        settlements, self._unsettled = self._unsettled, []
        commands: list[Command[Any]] = [settlement.command for settlement in settlements]
        if wanted > 0:
            commands.append(Pop(queue, self.name, wanted))
        if not commands:
            return []
        try:
            answers = self._client.run_many(commands)
        except (Retryable, OutcomeUnknown) as error:
            self._keep_for_later(settlements, error)
            return []
        for settlement, answer in zip(settlements, answers, strict=False):
            if answer.error is not None:
                self._say_refused(settlement, answer.error)
        if wanted <= 0 or answers[-1].error is not None:
            return []
        jobs: list[Job] = list(answers[-1].reply)
        return jobs

    def _keep_for_later(self, settlements: list[_Settlement], error: StanchionError) -> None:
        """The store cannot be reached: what is still ours is settled later. Attempt numbers make the repetition harmless."""
        log.warning("the store cannot be reached, trying again: %s", error)
        now = time.monotonic()
        self._unsettled = [settlement for settlement in settlements if settlement.lease.ends > now]
        time.sleep(TROUBLE_SECONDS)

    def _say_refused(self, settlement: _Settlement, error: BaseException) -> None:
        if not isinstance(error, Refused):
            self._unsettled.append(settlement)
            return
        log.warning("%s of job %s was refused: %s", settlement.command.name, settlement.lease.job.jid, error)

    def _start(self, record: Job) -> None:
        job = ActiveJob(JobHandle(self._client._engine, record.jid, record))
        runnable = self._runnables.get(record.klass)
        timeout = runnable.timeout if runnable else None
        self._running[job] = _Running(runnable.backoff if runnable else Constant(0.0))
        self._keeper.add(leases.new_lease(job, record, time.monotonic(), timeout))
        if runnable is None:
            self._report(job, Unknown())
            return
        try:
            started = perform.start(runnable, job, self._report)
        except LookupError as error:
            self._report(job, raised(error))
            return
        if inspect.iscoroutine(started):
            self._keeper.cancel_by(job, self._loop.submit(started))
        elif callable(started):
            self._pool.submit(started)

    def _report(self, job: ActiveJob, outcome: Outcome) -> None:
        self._inbox.put(_Finished(job, outcome))

    def _sleep(self, ticket: object, deadline: float | None) -> None:
        """Sleep until a job is finished, there may be work, or a signal came."""
        room = not self._stops and len(self._running) < self._threads
        if room and not self._watching:
            self._watching = True
            self._tickets.put(ticket)
        until = math.inf if deadline is None else deadline
        while (remaining := until - time.monotonic()) > 0:
            with suppress(Empty):
                self._note(self._inbox.get(timeout=min(remaining, SIGNAL_SECONDS)))
                return

    def _watch(self) -> None:
        """On a thread of its own: wait for work on behalf of the loop, which waits for more than that."""
        while (ticket := self._tickets.get()) is not None:
            try:
                self._client.wait(self._queues, IDLE_SECONDS, since=ticket)
            except StanchionError:
                time.sleep(TROUBLE_SECONDS)
            self._inbox.put(_Work())

    def _hand_back(self) -> None:
        """Give the jobs that still run to whoever comes next: no retry is spent, and their late writes will be refused."""
        jobs = [job for job in self._running if not job.settled]
        for job in jobs:
            job.lose("the worker stopped")
        if not jobs:
            return
        answers = self._client.run_many([Timeout((job.jid,)) for job in jobs])
        handed = sum(answer.error is None for answer in answers)
        log.warning("worker %s handed back %d jobs that were not done", self.name, handed)

    def _say_goodbye(self) -> None:
        try:
            self._client.run(Deregister((self.name,)))
        except StanchionError as error:
            log.warning("worker %s could not deregister: %s", self.name, error)


class _Running(NamedTuple):
    backoff: Any


class _Settlement(NamedTuple):
    command: Command[Any]
    lease: leases.Lease
