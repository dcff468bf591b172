"""Queues, failures, statistics, workers."""

from __future__ import annotations

from stanchion import commands as c
from stanchion.records import JobPage, QueueCounts, QueueStats, Timing, WorkerCounts, WorkerJobs
from stanchion.rules.histogram import bucket
from tests.model.naive.base import DAY, Item
from tests.model.naive.recurring import Recurring


class Queues(Recurring):
    """queues … worker.deregister."""

    def listed(self, listing: str, queue: str) -> list[str]:
        """The jids of a listing of a queue, in its order."""
        if listing == "recurring":
            found = [t.record for t in self.templates.values() if t.record.queue == queue]
            return [r.jid for r in sorted(found, key=lambda r: (r.next_due, r.jid))]
        return [job.jid for job in getattr(self, "list_" + listing)(queue)]

    def list_waiting(self, queue: str) -> list[Item]:
        due = [job for job in self.in_state(queue, "scheduled") if job.due <= self.now]
        line = [job for job in self.in_state(queue, "waiting")]
        return sorted([*line, *due], key=lambda job: (-job.priority, job.due or job.ready_at, job.seq))

    def locked(self, queue: str) -> list[Item]:
        return sorted(self.in_state(queue, "running", "stalled"), key=lambda job: (job.expires, job.seq))

    def list_running(self, queue: str) -> list[Item]:
        return [job for job in self.locked(queue) if job.expires > self.now]

    def list_stalled(self, queue: str) -> list[Item]:
        return [job for job in self.locked(queue) if job.expires <= self.now]

    def list_scheduled(self, queue: str) -> list[Item]:
        later = [job for job in self.in_state(queue, "scheduled") if job.due > self.now]
        return sorted(later, key=lambda job: (job.due, job.seq))

    def list_depends(self, queue: str) -> list[Item]:
        return sorted(self.in_state(queue, "depends"), key=lambda job: (job.ready_at, job.seq))

    def list_blocked(self, queue: str) -> list[Item]:
        return [job for job in self.list_depends(queue) if any(self.jobs[d].state == "failed" for d in job.depends)]

    def list_throttled(self, queue: str) -> list[Item]:
        return sorted(self.in_state(queue, "throttled"), key=lambda job: (job.ready_at, job.seq))

    def do_queues(self, q: c.AllCounts) -> tuple[QueueCounts, ...]:
        return tuple(self.do_counts(c.Counts(name)) for name in sorted(self.queues, key=lambda name: self.queues[name]))

    def do_counts(self, q: c.Counts) -> QueueCounts:
        names = ("waiting", "running", "stalled", "scheduled", "depends", "throttled", "recurring")
        counts = {name: len(self.listed(name, q.queue)) for name in names}
        return QueueCounts(name=q.queue, paused=q.queue in self.paused, **counts)

    def do_length(self, q: c.Length) -> int:
        return sum(len(self.listed(name, q.queue)) for name in ("waiting", "running", "stalled", "scheduled"))

    def do_jobs(self, j: c.ListJobs) -> tuple[str, ...]:
        found = [job.jid for job in self.done()] if j.queue is None else self.listed(j.state, j.queue)
        return tuple(found[j.offset : j.offset + j.count])

    def do_pause(self, p: c.Pause) -> None:
        self.paused |= set(p.queues)

    def do_unpause(self, p: c.Unpause) -> None:
        self.paused -= set(p.queues)

    def do_queue_forget(self, f: c.ForgetQueues) -> None:
        for queue in f.queues:
            self.queues.pop(queue, None)

    # Failures

    def do_failures(self, f: c.FailureGroups) -> dict[str, int]:
        groups = {job.failure.group for job in self.jobs.values() if job.state == "failed" and job.failure}
        return {group: len(self.failed(group)) for group in groups}

    def do_failed(self, f: c.Failed) -> JobPage:
        jids = [job.jid for job in reversed(self.failed(f.group))]
        return JobPage(len(jids), tuple(jids[f.start : f.start + f.limit]))

    # Statistics

    def do_stats(self, s: c.Stats) -> QueueStats:
        return self.stats(s.queue, self.day(self.now if s.date is None else s.date))

    def stats(self, queue: str, day: int) -> QueueStats:
        age = (self.day(self.now) - day) // DAY
        if age >= max(1, int(self.option("stats-history"))):
            return QueueStats()
        drawn = age < max(1, int(self.option("histogram-history")))
        retries, failures, failed = self.counters.get((queue, day), [0, 0, 0])
        wait, run = (timing(kept.get((queue, day), []), drawn) for kept in (self.waits, self.runs))
        return QueueStats(wait, run, retries, failures, failed)

    # Workers

    def holding(self, worker: str) -> list[Item]:
        """The jobs of a worker, next to lapse last."""
        found = [job for job in self.jobs.values() if job.worker == worker]
        return sorted(found, key=lambda job: (-job.expires, -job.seq))

    def do_workers(self, w: c.AllWorkers) -> tuple[WorkerCounts, ...]:
        found = []
        for name, seen in sorted(self.workers.items(), key=lambda item: (-item[1], item[0])):
            jobs = self.do_worker(c.JobsOfWorker(name))
            if self.is_there(seen):
                found.append(WorkerCounts(name, len(jobs.jobs), len(jobs.stalled), seen))
        return tuple(found)

    def do_worker(self, w: c.JobsOfWorker) -> WorkerJobs:
        held = self.holding(w.worker)
        lapsed = tuple(job.jid for job in held if job.expires <= self.now)
        return WorkerJobs(tuple(job.jid for job in held if job.expires > self.now), lapsed)

    def do_worker_deregister(self, d: c.Deregister) -> int:
        seen = [self.workers.pop(worker) for worker in d.workers if worker in self.workers]
        return sum(self.is_there(when) for when in seen)


def timing(values: list[float], drawn: bool) -> Timing:
    if not values:
        return Timing()
    mean = sum(values) / len(values)
    squares = sum((value - mean) ** 2 for value in values)
    std = (squares / (len(values) - 1)) ** 0.5 if len(values) > 1 else 0.0
    histogram = [0] * 148
    for value in values if drawn else ():
        histogram[bucket(value)] += 1
    return Timing(len(values), mean, std, tuple(histogram))
