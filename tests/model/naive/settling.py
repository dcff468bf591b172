"""Settling work: complete, fail, retry."""

from __future__ import annotations

from stanchion import commands as c
from stanchion.errors import WrongQueue
from stanchion.records import Failure
from tests.model.naive.base import Item
from tests.model.naive.taking import Taking


class Settling(Taking):
    """The way from a worker to an end, or back to a line."""

    def do_complete(self, x: c.Complete) -> str:
        state = self.complete(x)
        self.upkeep()
        return state

    def do_complete_many(self, m: c.CompleteMany) -> tuple[str, ...]:
        states = self.each_of("complete_many", "completes", self.complete, m.completes)
        self.upkeep()
        return states

    def complete(self, x: c.Complete) -> str:
        job = self.held_by(x.jid, x.worker, x.attempt)
        if job.queue != x.queue:
            raise WrongQueue(jid=x.jid, queue=x.queue, actual=job.queue)
        on = self.counting(x.depends, job.policy)
        self.check_circle(job.jid, on)
        self.runs.setdefault((job.queue, self.day(self.now)), []).append(self.now - job.popped_at)
        self.leave(job)
        self.note(job, "done")
        job.data = x.data if x.data is not None else job.data
        job.result = x.result if x.result is not None else job.result
        self.tell_watchers("completed", job.jid)
        if x.next is None:
            self.log("completed", jid=job.jid, queue=x.queue)
            self.end(job)
            return "complete"
        self.log("advanced", jid=job.jid, queue=x.queue, to=x.next)
        job.depends = on
        self.renew(job, x.next, x.delay)
        # Its policy may have canceled it at once; it was in depends for that long.
        return job.state if job.jid in self.jobs else "depends"

    def end(self, job: Item) -> None:
        """A job is complete: what waits for it is freed."""
        job.state, job.queue, job.completed_at = "complete", "", self.now
        for other in self.dependents(job.jid):
            self.free(other, job.jid)

    def do_fail(self, f: c.Fail) -> str:
        job = self.held_by(f.jid, f.worker, f.attempt)
        job.data = f.data if f.data is not None else job.data
        self.fail(job, f.group, f.message, f.worker)
        self.lost(job.jid)
        return f.jid

    def do_retry(self, r: c.Retry) -> int:
        job = self.held_by(r.jid, r.worker, r.attempt)
        if job.retries != -1 and job.remaining == 0 and not r.free:
            self.exhaust(job, r.worker, r.group, r.message)
            return -1
        self.leave(job)
        job.remaining -= job.retries != -1 and not r.free
        job.queue = r.queue
        self.stand(job, self.now + r.delay if r.delay else 0.0)
        if r.group is not None:
            job.failure = Failure(r.group, r.message or "", self.now, r.worker)
        self.know(r.queue)
        return job.remaining
