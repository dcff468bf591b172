"""Dependencies; putting, moving, failing and removing jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanchion import commands as c
from stanchion.errors import BadArgument, DependencyCircle, HasDependents, StanchionError
from stanchion.records import Failure
from tests.model.naive.base import Item
from tests.model.naive.lines import Lines


class Putting(Lines):
    """put, put_many, requeue, unfail, cancel, timeout; and what becomes of dependents."""

    # Dependencies

    def counting(self, jids: tuple[str, ...], policy: str) -> frozenset[str]:
        """Those dependencies that count: they exist and are not over."""
        over = {"complete", "failed"} if policy == "run" else {"complete"}
        return frozenset(jid for jid in jids if jid in self.jobs and self.jobs[jid].state not in over)

    def check_circle(self, jid: str, on: frozenset[str]) -> None:
        """Refuse dependencies through which a job would wait for itself."""
        paths = [[jid, other] for other in sorted(on)]
        for path in paths:
            if path[-1] == jid:
                raise DependencyCircle(jid=jid, circle=" → ".join(path))
            paths += [[*path, other] for other in sorted(self.jobs[path[-1]].depends)]

    def free(self, job: Item, of: str) -> None:
        """A job no longer waits for another."""
        job.depends -= {of}
        if not job.depends:
            self.stand(job, job.due)

    def lost(self, *jids: str) -> None:
        """Jobs failed or are gone: their dependents do what their policies say, and then the dependents of those."""
        gone = list(jids)
        for jid in gone:
            gone += [job.jid for job in self.dependents(jid) if self.lose(job, jid)]

    def lose(self, job: Item, dependency: str) -> bool:
        """What a job does that lost a dependency. True if it is lost by that itself."""
        waited_for = any(other.policy == "wait" for other in self.dependents(job.jid))
        if job.policy == "run":
            self.free(job, dependency)
        elif job.policy == "cancel" and not waited_for:
            self.cancel(job)
        elif job.policy != "wait":
            self.fail(job, "dependency-failed", f"Job {dependency}, which it depends on, failed or was canceled", "")
        return job.policy in ("cancel", "fail")

    def lose_failed(self, job: Item) -> None:
        """Of the dependencies that a job has from now on, some may have failed long ago."""
        failed = [other for other in sorted(job.depends) if self.jobs[other].state == "failed"]
        if job.policy == "run":
            for other in failed:
                self.free(job, other)
        elif failed and self.lose(job, failed[0]):
            self.lost(job.jid)

    # Ends

    def fail(self, job: Item, group: str, message: str, worker: str) -> None:
        self.leave(job)
        self.note(job, "failed", worker=worker, group=group)
        job.failure, job.failed_at = Failure(group, message, self.now, worker), self.now
        job.state, job.due, job.depends = "failed", 0.0, frozenset()
        counts = self.counter(job.queue, self.now)
        counts[1] += 1
        counts[2] += 1
        self.log("failed", jid=job.jid, worker=worker, group=group, message=message)
        self.tell_watchers("failed", job.jid)

    def exhaust(self, job: Item, worker: str, group: str | None = None, message: str | None = None) -> None:
        """Its retries ran out."""
        if message is None:
            message = f'Job exhausted retries in queue "{job.queue}"'
        self.fail(job, group or f"failed-retries-{job.queue}", message, worker)
        self.lost(job.jid)

    def cancel(self, job: Item) -> None:
        self.log("canceled", jid=job.jid, worker=job.worker, queue=job.queue)
        self.tell_worker(job.worker, "canceled", jid=job.jid, queue=job.queue)
        self.tell_watchers("canceled", job.jid)
        self.remove(job)
        self.tracked.pop(job.jid, None)

    # Commands

    def do_put(self, p: c.Put) -> str:
        old = self.jobs.get(p.jid)
        if old and p.if_absent:
            return p.jid
        fields = {
            "klass": p.klass,
            "data": p.data,
            "priority": p.priority if p.priority is not None else old.priority if old else 0.0,
            "tags": p.tags if p.tags is not None else old.tags if old else (),
            "retries": p.retries if p.retries is not None else old.retries if old else 5,
            "throttles": p.throttles,
            "policy": p.on_dependency_failure,
        }
        self.put(old or Item(p.jid), p, fields)
        return p.jid

    def do_requeue(self, r: c.Requeue) -> str:
        old = self.need(r.jid)
        named = ("klass", "data", "priority", "tags", "retries", "throttles")
        fields = {name: getattr(r, name) if getattr(r, name) is not None else getattr(old, name) for name in named}
        self.put(old, r, {**fields, "policy": old.policy})
        return r.jid

    def put(self, job: Item, p: c.Put | c.Requeue, fields: dict[str, Any]) -> None:
        on = self.counting(p.depends, fields["policy"])
        self.check_circle(job.jid, on)
        holder = job.worker
        self.leave(job)
        for name, value in fields.items():
            if name != "tags":
                setattr(job, name, value)
        if p.depends:
            job.depends = on
        self.jobs[job.jid] = job
        job.result = None
        self.retag(job, fields["tags"])
        self.log("put", jid=job.jid, queue=p.queue)
        if holder and holder != p.worker:
            self.lock_lost(job, holder)
        self.tell_watchers("put", job.jid)
        self.renew(job, p.queue, p.delay)

    def renew(self, job: Item, queue: str, delay: float = 0.0) -> None:
        """A job begins anew in a queue."""
        job.queue, job.seq, job.remaining, job.popped_at = queue, self.number(), job.retries, 0.0
        self.stand(job, self.now + delay if delay else 0.0)
        self.note(job, "put", q=queue)
        self.know(queue)
        self.lose_failed(job)

    def do_put_many(self, m: c.PutMany) -> tuple[str, ...]:
        return self.each_of("put_many", "puts", self.do_put, m.puts)

    def each_of(self, command: str, argument: str, do: Callable[[Any], str], many: tuple[Any, ...]) -> tuple[str, ...]:
        """Do many things; the error names the one that was refused."""
        replies = []
        for index, one in enumerate(many):
            try:
                replies.append(do(one))
            except StanchionError as error:
                raise BadArgument(command=command, argument=f"{argument}[{index}]", problem=str(error)) from error
        return tuple(replies)

    def failed(self, group: str) -> list[Item]:
        """The failed jobs of a group, the longest-failed first."""
        found = [j for j in self.jobs.values() if j.state == "failed" and j.failure and j.failure.group == group]
        return sorted(found, key=lambda job: (job.failed_at, job.seq))

    def do_unfail(self, u: c.Unfail) -> int:
        moved = self.failed(u.group)[: u.count]
        for job in moved:
            self.leave(job)
            self.log("put", jid=job.jid, queue=u.queue)
            self.tell_watchers("put", job.jid)
            self.renew(job, u.queue)
        return len(moved)

    def do_cancel(self, x: c.Cancel) -> tuple[str, ...]:
        going = [jid for jid in x.jids if jid in self.jobs]
        for jid in going:  # it grows meanwhile, by those that are canceled with what they depend on
            for job in sorted(self.dependents(jid), key=lambda job: job.jid):
                if job.jid not in going and job.policy == "wait":
                    raise HasDependents(jid=jid, dependent=job.jid)
                if job.jid not in going and job.policy == "cancel":
                    going.append(job.jid)
        for jid in going:
            self.cancel(self.jobs[jid])
        for jid in going:
            self.lost(jid)
        return tuple(going)

    def do_timeout(self, t: c.Timeout) -> None:
        for job in [self.running(jid) for jid in t.jids]:
            worker = job.worker
            self.leave(job)
            self.note(job, "timed-out")
            job.state, job.ready_at = "stalled", self.now
            self.lock_lost(job, worker)
