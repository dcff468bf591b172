"""An app whose jobs stay in memory for the time of a test, and run when the test says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Self

from stanchion.client.open import open_engine
from stanchion.client.sync.client import Client
from stanchion.commands import AllCounts, Pop, Put, SetConfig, Timeout
from stanchion.states import State
from stanchion.tasks.app import App
from stanchion.tasks.task import Task
from stanchion.testing.clock import Clock
from stanchion.testing.engine import ClockedEngine
from stanchion.testing.running import Endless, Ran, Run, settlement
from stanchion.worker.lease import Lease

WORKER, OTHER = "stanchion-testing", "stanchion-testing-other"

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""The arguments of a call."""


class Kit:
    """For the time of a ``with`` block, an app's jobs go to a database of their own: a real one, in memory, with all the rules.

    ``clock`` is the only time there is; it stands until it is turned, or ``run_until_idle`` turns it. Nothing runs by itself. There
    is no grace period for lapsed locks. Threads may put; running jobs is for one thread at a time.
    """

    def __init__(self, app: App, now: float | None = None) -> None:
        self.app = app
        self.clock = Clock(time.time() if now is None else now)
        self._puts: list[Put] = []
        self._inline = False
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self.client = Client.on(ClockedEngine(open_engine("sqlite://"), self.clock, self._when_put))
        with ExitStack() as entered:
            entered.callback(self.client.close)
            self.client.run(SetConfig("grace-period", 0))
            entered.enter_context(self.app.using(self.client))
            self._open = entered.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def drain(self, queue: str | None = None, *, limit: int = 1000) -> list[Ran]:
        """Run all that is due, of a queue or of all, until nothing is; what ran, in order.

        Coroutines run on an event loop of their own; where one runs already, use ``drain_async``. Endless after so many jobs.
        """
        ran: list[Ran] = []
        while run := self._next(queue, ran, limit):
            ran.append(self._settled(_run_here(run), run))
        return ran

    async def drain_async(self, queue: str | None = None, *, limit: int = 1000) -> list[Ran]:
        """As ``drain``, on the event loop that runs."""
        ran: list[Ran] = []
        while run := self._next(queue, ran, limit):
            ran.append(self._settled(await run.awaited(), run))
        return ran

    def run_until_idle(self, *, limit: int = 1000) -> list[Ran]:
        """Run all jobs, and turn the clock to whatever is due next, until nothing is left; what ran.

        Recurring jobs are never done: they run as far as the clock is turned for others. Endless after so many jobs.
        """
        ran = self.drain(limit=limit)
        while (due := self._next_due()) is not None:
            self.clock.advance(max(0.0, due - self.clock.now))
            ran += self.drain(limit=limit - len(ran))
        return ran

    def puts(self, task: Task[Any, Any, Any]) -> list[Call]:
        """The calls of a task that were put in this block, in order, whatever became of them."""
        return [task._arguments.decode(put.data) for put in self._puts if put.klass == task.name]

    def assert_put(self, task: Task[Any, Any, Any], *args: Any, **kwargs: Any) -> None:
        """AssertionError, which shows what was put instead, unless this call was put."""
        wanted, puts = task._arguments.decode(task.job(*args, **kwargs).data), self.puts(task)
        if wanted not in puts:
            raise AssertionError(f"{task.name} was not put with {_shown(wanted)}; it was put {_listed(puts)}")

    def assert_not_put(self, task: Task[Any, Any, Any]) -> None:
        """AssertionError, which shows the calls, if any call of the task was put."""
        if puts := self.puts(task):
            raise AssertionError(f"{task.name} was put {_listed(puts)}")

    @contextmanager
    def inline(self) -> Iterator[None]:
        """In this block a put runs at once, in its caller, if it is due; what the code raises is raised there."""
        self._inline = True
        try:
            yield
        finally:
            self._inline = False

    def die_after_run(self, queue: str) -> Ran:
        """Run the next job of a queue, but let the worker die before it settles it: it comes back once its lock has lapsed.

        The clock is turned there. LookupError if nothing is due.
        """
        run = self._one(queue)
        ran = _run_here(run)
        self.clock.advance(max(0.0, run.job.expires - self.clock.now))
        return ran

    def lose_lease(self, queue: str) -> Ran:
        """Run the next job of a queue while another worker takes it over: its code's calls are refused, and so is its end.

        The other worker dies with it. LookupError if nothing is due.
        """

        def take_over(lease: Lease) -> None:
            self.client.run(Timeout((lease.job.jid,)))
            self.client.run(Pop(queue, OTHER))
            lease.lost = "another worker has it"

        return _run_here(self._one(queue, take_over))

    def deliver_twice(self, queue: str) -> tuple[Ran, Ran]:
        """Run the next job of a queue twice, as after an acknowledgement that was lost. LookupError if nothing is due."""
        first = self.die_after_run(queue)
        again = self._one(queue)
        return first, self._settled(_run_here(again), again)

    def _when_put(self, put: Put) -> None:
        self._puts.append(put)
        if not self._inline:
            return
        for ran in self.drain(put.queue):
            if ran.error is not None:
                raise ran.error

    def _next(self, queue: str | None, ran: list[Ran], limit: int) -> Run | None:
        queues = [queue] if queue is not None else [counts.name for counts in self.client.run(AllCounts())]
        for name in queues:
            run = self._popped(name)
            if run and len(ran) >= limit:
                raise Endless(f"{limit} jobs ran, and there are more: the next is {run.job.klass} {run.job.jid}")
            if run:
                return run
        return None

    def _one(self, queue: str, before: Callable[[Lease], None] = lambda _: None) -> Run:
        run = self._popped(queue, before)
        if run is None:
            raise LookupError(f"no job of queue {queue!r} is due")
        return run

    def _popped(self, queue: str, before: Callable[[Lease], None] = lambda _: None) -> Run | None:
        jobs = self.client.run(Pop(queue, WORKER))
        return Run(self.client, jobs[0], self.app.runnables.get(jobs[0].klass), before) if jobs else None

    def _settled(self, ran: Ran, run: Run) -> Ran:
        for command in settlement(ran, run.runnable):
            self.client.run(command)
        return ran

    def _next_due(self) -> float | None:
        """When the next scheduled job is due, or the next lock lapses."""
        jobs = self.client.dump().jobs.values()
        due = [job.due for job in jobs if job.state == State.SCHEDULED]
        due += [job.expires for job in jobs if job.state == State.RUNNING]
        return min(due, default=None)


def _run_here(run: Run) -> Ran:
    return asyncio.run(run.awaited()) if run.is_async else run.call()


def _shown(call: Call) -> str:
    args, kwargs = call
    return f"({', '.join([*map(repr, args), *(f'{name}={value!r}' for name, value in kwargs.items())])})"


def _listed(puts: list[Call]) -> str:
    return "with " + ", ".join(map(_shown, puts)) if puts else "with nothing"
