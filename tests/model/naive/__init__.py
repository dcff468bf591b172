"""The queue as plainly as it can be said: dictionaries, sorted lists, no thought of speed.

It is written from docs/specification.md and the docstrings of the commands, apart from any engine; where it and an engine
disagree, one of them has a fault.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from stanchion import commands as c
from stanchion.engine.contract import QueueState, StateDump, ThrottleState, WorkerState
from stanchion.errors import StanchionError
from stanchion.records import QueueStats
from tests.model.naive.settings import Settings


class Naive(Settings):
    """The whole queue. ``run`` is the one way to change it, ``dump`` shows it all, ``events`` what the last run published."""

    def run(self, command: c.Command[Any], now: float) -> Any:
        """The reply of a command, or the error raised; an error leaves everything as it was, and publishes nothing."""
        self.now, self.events = now, []
        saved = deepcopy(self.__dict__)
        try:
            return getattr(self, "do_" + command.name.replace(".", "_"))(command)
        except StanchionError:
            self.__dict__.update(saved)
            raise

    def dump(self, now: float) -> StateDump:
        self.now = now
        return StateDump(
            now=now,
            jobs={jid: self.record(job) for jid, job in self.jobs.items()},
            recurring={jid: template.record for jid, template in self.templates.items()},
            queues={name: self.queue_state(name) for name in self.queue_names()},
            workers={name: self.worker_state(name) for name, seen in self.workers.items() if self.is_there(seen)},
            complete=tuple(job.jid for job in self.done()),
            failures={
                group: self.do_failed(c.Failed(group, 0, 10**6)).jobs for group in self.do_failures(c.FailureGroups())
            },
            tags={tag: self.bearing(tag) for tag, _ in self.tagged},
            tracked=self.tracked_jids(),
            throttles=self.throttle_states(),
            stats=self.all_stats(),
            config=self.do_config_all(c.AllConfig()),
        )

    def queue_names(self) -> set[str]:
        of_jobs = {job.queue for job in self.jobs.values() if job.queue}
        of_templates = {template.record.queue for template in self.templates.values()}
        return {*self.queues, *self.paused, *of_jobs, *of_templates}

    def queue_state(self, name: str) -> QueueState:
        return QueueState(
            known=name in self.queues,
            paused=name in self.paused,
            waiting=tuple(self.listed("waiting", name)),
            running={job.jid: job.expires for job in self.in_state(name, "running")},
            stalled=tuple(job.jid for job in self.in_state(name, "stalled")),
            scheduled={job.jid: job.due for job in self.list_scheduled(name)},
            depends=tuple(self.listed("depends", name)),
            throttled=tuple(self.listed("throttled", name)),
            recurring={jid: self.templates[jid].record.next_due for jid in self.listed("recurring", name)},
        )

    def worker_state(self, name: str) -> WorkerState:
        return WorkerState(self.workers[name], tuple(sorted(job.jid for job in self.holding(name))))

    def throttle_states(self) -> dict[str, ThrottleState]:
        found = {}
        for name in {*self.limits, *(throttle for job in self.jobs.values() for throttle in job.throttles)}:
            limit = self.do_throttle_get(c.GetThrottle(name))
            locks, pending = self.do_throttle_locks(c.ThrottleLocks(name)), self.do_throttle_pending(c.ThrottlePending(name))
            if limit.maximum or locks or pending:
                found[name] = ThrottleState(limit, locks, pending)
        return found

    def all_stats(self) -> dict[str, dict[int, QueueStats]]:
        found: dict[str, dict[int, QueueStats]] = {}
        for queue, day in {*self.waits, *self.runs, *self.counters}:
            stats = self.stats(queue, day)
            if stats != QueueStats():
                found.setdefault(queue, {})[day] = stats
        return found
