"""An app whose jobs stay in memory for the time of a test, and run when the test says."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from stanchion.client.sync.client import Client
from stanchion.commands import Command, Pop
from stanchion.records import Job
from stanchion.rules.backoff import Constant
from stanchion.tasks.app import App
from stanchion.tasks.registry import Runnable
from stanchion.tasks.task import Task
from stanchion.testing.clock import Clock
from stanchion.worker.active import ActiveJob
from stanchion.worker.lease import new_lease
from stanchion.worker.outcome import Outcome, Unknown, settle
from stanchion.worker.perform import on_loop, perform

WORKER = "stanchion-testing"


class Endless(AssertionError):
    """The jobs do not come to an end."""


@dataclass(frozen=True)
class Ran:
    """A job that ran, and how its code ended."""

    job: Job
    outcome: Outcome


class KitClient(Client):
    """A client of a database of its own, in memory, whose every command runs at the time of a clock."""

    def __init__(self, clock: Clock) -> None:
        super().__init__("sqlite://")
        vars(self._engine)["run"] = _at(self._engine.run, clock)


class Kit:
    """For the time of a ``with`` block, what the app puts goes to a database in memory, with the real rules."""

    def __init__(self, app: App, now: float | None = None) -> None:
        self.app = app
        self.clock = Clock(time.time() if now is None else now)
        self._before: Client | None = None

    def __enter__(self) -> Self:
        with self.app._lock:
            if isinstance(self.app._client, KitClient):
                raise RuntimeError("the app is under test already: leave that block before entering another")
            self._before, self.app._client = self.app._client, KitClient(self.clock)
        return self

    def __exit__(self, *_: object) -> None:
        with self.app._lock:
            client, self.app._client = self.app._client, self._before
        if client is not None:
            client.close()

    def drain(self, queue: str, limit: int = 1000) -> list[Ran]:
        """Run all that is due in a queue, here and now; what ran. Coroutines need that no event loop runs in this thread.

        Endless if it is more than ``limit`` jobs.
        """
        ran: list[Ran] = []
        while jobs := self.app.client.run(Pop(queue, WORKER)):
            if len(ran) == limit:
                raise Endless(f"{limit} jobs ran, and queue {queue!r} has more: the next is {jobs[0].klass} {jobs[0].jid}")
            ran.append(self._run(jobs[0]))
        return ran

    def puts(self, task: Task[Any, Any, Any]) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        """The calls that the task's jobs in the database ask for, in no order; those that have run are among them."""
        jobs = self.app.client.dump(now=self.clock.now).jobs.values()
        return [task._arguments.decode(job.data) for job in jobs if job.klass == task.name]

    def assert_put(self, task: Task[Any, Any, Any], *args: Any, **kwargs: Any) -> None:
        """AssertionError, which shows what was put instead, unless a job that makes this call was put."""
        wanted, puts = task._arguments.decode(task.job(*args, **kwargs).data), self.puts(task)
        if wanted not in puts:
            raise AssertionError(f"no job of {task.name} was put with {wanted}; there are: {puts}")

    def _run(self, job: Job) -> Ran:
        runnable = self.app.runnables.get(job.klass)
        client = self.app.client
        active = ActiveJob(client.jobs.of(job), new_lease(job, self.clock.now))
        outcome = _outcome(active, runnable) if runnable else Unknown()
        for command in settle(job, outcome, runnable.backoff if runnable else Constant(0.0)):
            client.run(command)
        return Ran(job, outcome)


def _outcome(job: ActiveJob, runnable: Runnable) -> Outcome:
    if not runnable.is_async(job.queue):
        return contextvars.copy_context().run(perform, job, runnable)
    outcomes: list[Outcome] = []
    asyncio.run(on_loop(job, runnable, lambda _, outcome: outcomes.append(outcome)))
    return outcomes[0]


def _at(run: Callable[..., Any], clock: Clock) -> Callable[..., Any]:
    def at(command: Command[Any], now: float | None = None, **options: Any) -> Any:
        return run(command, now=clock.now if now is None else now, **options)

    return at
