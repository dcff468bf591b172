"""What keeps the tests of the specification short. After every command the whole state is checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from stanchion import commands as c
from stanchion.engine.contract import Engine, StateDump
from stanchion.engine.invariants import check
from stanchion.records import Event, Job, QueueCounts

spec = pytest.mark.spec


class Rig:
    """An engine with short words. Times are seconds; ``q`` is the queue and ``w`` the worker unless another is named."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.now = 0.0

    def run(self, command: c.Command[Any], now: float | None = None, token: str | None = None) -> Any:
        """Run a command at ``now``, or at the time of the last one, and check the state after it."""
        self.now = self.now if now is None else now
        try:
            return self.engine.run(command, now=self.now, token=token)
        finally:
            assert check(self.dump()) == []

    def dump(self) -> StateDump:
        return self.engine.dump(now=self.now)

    def put(self, jid: str, now: float | None = None, queue: str = "q", klass: str = "k", **options: Any) -> str:
        return str(self.run(c.Put(queue, jid, klass, **options), now))

    def pop(self, now: float | None = None, worker: str = "w", count: int = 1, queue: str = "q") -> list[str]:
        return [job.jid for job in self.pop_jobs(now, worker, count, queue)]

    def pop_jobs(self, now: float | None = None, worker: str = "w", count: int = 1, queue: str = "q") -> tuple[Job, ...]:
        jobs: tuple[Job, ...] = self.run(c.Pop(queue, worker, count), now)
        return jobs

    def peek(self, now: float | None = None, count: int = 1, queue: str = "q") -> list[str]:
        return [job.jid for job in self.run(c.Peek(queue, count), now)]

    def complete(self, jid: str, now: float | None = None, worker: str = "w", queue: str = "q", **options: Any) -> str:
        return str(self.run(c.Complete(jid, worker, queue, **options), now))

    def fail(self, jid: str, now: float | None = None, worker: str = "w", group: str = "g", message: str = "m") -> str:
        return str(self.run(c.Fail(jid, worker, group, message), now))

    def retry(self, jid: str, now: float | None = None, worker: str = "w", queue: str = "q", **options: Any) -> int:
        return int(self.run(c.Retry(jid, queue, worker, **options), now))

    def beat(self, jid: str, now: float | None = None, worker: str = "w", **options: Any) -> float:
        return float(self.run(c.Heartbeat(jid, worker, **options), now))

    def config(self, option: str, value: Any) -> None:
        self.run(c.SetConfig(option, value))

    def job(self, jid: str, now: float | None = None) -> Job:
        job = self.run(c.Get(jid), now)
        assert isinstance(job, Job)
        return job

    def gone(self, jid: str) -> bool:
        return self.run(c.Get(jid)) is None

    def state(self, jid: str, now: float | None = None) -> str:
        return str(self.job(jid, now).state)

    def history(self, jid: str) -> list[str]:
        return [entry.what for entry in self.job(jid).history]

    def counts(self, queue: str = "q", now: float | None = None) -> QueueCounts:
        counts = self.run(c.Counts(queue), now)
        assert isinstance(counts, QueueCounts)
        return counts

    def jobs(self, state: str, queue: str | None = "q", now: float | None = None, **page: int) -> tuple[str, ...]:
        return tuple(self.run(c.ListJobs(state, queue, **page), now))  # type: ignore[arg-type]

    def stats(self, queue: str = "q", date: float | None = None) -> Any:
        return self.run(c.Stats(queue, date))

    @contextmanager
    def refused(self, error: type[Exception], *words: str) -> Iterator[None]:
        """The block must raise this error, naming these words, and change nothing."""
        before = self.dump()
        with pytest.raises(error) as caught:
            yield
        assert all(word in str(caught.value) for word in words), str(caught.value)
        assert self.engine.dump(now=before.now) == before

    @contextmanager
    def events(self, *channels: str) -> Iterator[list[Any]]:
        """What is published in the block: (channel, message), JSON decoded."""
        found: list[Any] = []
        with self.engine.subscribe(channels or ("*",)) as subscription:
            yield found
            while (event := subscription.get(0)) is not None:
                found.append((event.channel, _decoded(event)))


def _decoded(event: Event) -> Any:
    return json.loads(event.message) if event.message.startswith("{") else event.message
