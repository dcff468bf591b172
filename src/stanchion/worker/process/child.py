"""A child: a process that runs one job after another, as its worker tells it. It opens no store by itself."""

from __future__ import annotations

import asyncio
import faulthandler
import itertools
import logging
import math
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from types import FrameType
from typing import Any, TypeVar, cast

from stanchion.client.sync.jobs import JobHandle
from stanchion.commands import Command
from stanchion.engine.contract import Engine
from stanchion.tasks.app import App
from stanchion.tasks.registry import Runnable
from stanchion.worker.active import ActiveJob, LeaseLost
from stanchion.worker.lease import Lease
from stanchion.worker.outcome import Outcome, Unknown, as_text, raised
from stanchion.worker.perform import on_loop, perform
from stanchion.worker.process import linux
from stanchion.worker.process.surroundings import Surroundings
from stanchion.worker.process.wire import Answer, Channel, Interrupt, Ready, Run, call, done, reply_of

R = TypeVar("R")

INTERRUPT = signal.SIGUSR1
"""Breaks into code on the main thread of a child, sleeping or not."""

STACKS = signal.SIGUSR2
"""Lets a child write the stacks of all its threads."""


def main(channel: int, output: int, parent: int, app: App) -> None:
    """Be a child; it never returns."""
    linux.die_with_parent(parent)
    linux.adopt_orphans()
    os.setpgid(0, 0)
    _redirect(output)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    faulthandler.enable(file=2, all_threads=True)
    if not logging.getLogger().handlers:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    _Child(Channel(socket.socket(fileno=channel)), app.runnables).run()
    _flush()
    os._exit(0)


class _Child:
    def __init__(self, channel: Channel, runnables: dict[str, Runnable]) -> None:
        self._channel = channel
        self._runnables = runnables
        self._runs: SimpleQueue[Run] = SimpleQueue()
        self._pipe = _Pipe(channel)
        self._lease: Lease | None = None
        self._cancel: Callable[[], None] = _interrupt
        self._armed = False

    def run(self) -> None:
        """Run jobs until the worker is gone."""
        signal.signal(INTERRUPT, self._interrupted)
        _let_tell()
        surroundings = Surroundings()
        threading.Thread(target=self._receive, name="stanchion-pipe", daemon=True).start()
        self._channel.send(Ready(os.getpid()))
        while True:
            outcome = self._perform(self._runs.get())
            _flush()
            surroundings.restore()
            _let_tell()
            self._channel.send(done(outcome, linux.memory()))

    def _receive(self) -> None:
        while (messages := self._channel.receive()) is not None:
            for message in messages:
                match message:
                    case Run():
                        self._lease = Lease(message.job, 0.0, math.inf)
                        self._runs.put(message)
                    case Answer():
                        self._pipe.answered(message)
                    case Interrupt(why):
                        self._tell(why)
        os._exit(0)  # nobody is left who could hear what comes of the job

    def _tell(self, why: str | None) -> None:
        lease = self._lease
        if lease is None:
            return
        if why is None:
            lease.late = True
        else:
            lease.lost = why
        self._cancel()

    def _perform(self, run: Run) -> Outcome:
        runnable = self._runnables.get(run.job.klass)
        lease = self._lease
        if runnable is None or lease is None:
            return Unknown()
        job = ActiveJob(JobHandle(cast("Engine", self._pipe), run.job.jid, run.job), lease)
        try:
            return as_text(self._await(job, runnable) if runnable.is_async(run.job.queue) else self._call(job, runnable))
        except BaseException as error:  # noqa: BLE001 - told to end between two lines: that is an outcome, too
            return raised(error)
        finally:
            self._armed = False
            self._cancel = _interrupt

    def _call(self, job: ActiveJob, runnable: Runnable) -> Outcome:
        self._armed = True
        outcome = perform(job, runnable)
        self._armed = False
        return outcome

    def _await(self, job: ActiveJob, runnable: Runnable) -> Outcome:
        outcomes: list[Outcome] = []

        async def main() -> None:
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            assert task is not None
            self._cancel = lambda: cast(None, loop.call_soon_threadsafe(task.cancel))
            await on_loop(job, runnable, lambda lease, outcome: outcomes.append(outcome))

        asyncio.run(main())
        return outcomes[0]

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """In the main thread: break into the job's code, once."""
        if not self._armed or self._lease is None:
            return
        if self._lease.lost is not None:
            self._armed = False
            raise LeaseLost(self._lease.lost)
        if self._lease.late:
            raise TimeoutError("the job's time is over")


class _Pipe:
    """Runs the commands of a running job where the store is open: in the worker."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._numbers = itertools.count()
        self._waiting: dict[int, SimpleQueue[Answer]] = {}

    def run(self, command: Command[R], *, now: float | None = None, **options: Any) -> R:
        """Run a command in the worker, and give its reply or raise its error."""
        number = next(self._numbers)
        answers: SimpleQueue[Answer] = SimpleQueue()
        self._waiting[number] = answers
        try:
            self._channel.send(call(number, command, now))
            reply: R = reply_of(answers.get(), command)
            return reply
        finally:
            self._waiting.pop(number, None)

    def answered(self, answer: Answer) -> None:
        """Give an answer to the thread that waits for it."""
        waiting = self._waiting.get(answer.number)
        if waiting is not None:
            waiting.put(answer)


def _interrupt() -> None:
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, INTERRUPT)


def _let_tell() -> None:
    # Registered anew for each job: the one before may have taken the signal for itself.
    faulthandler.register(STACKS, file=2, all_threads=True, chain=False)


def _redirect(output: int) -> None:
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # the job closed it
            continue
