"""Taking work: pop, peek, heartbeat, and what is due."""

from __future__ import annotations

import msgspec

from stanchion import commands as c
from stanchion.records import Job, RecurringJob
from stanchion.rules.recurrence import free_number
from stanchion.states import State
from tests.model.naive.base import Item, Template
from tests.model.naive.putting import Putting


class Taking(Putting):
    """The way from a line to a worker."""

    def do_pop(self, p: c.Pop) -> tuple[Job, ...]:
        self.workers[p.worker] = self.now
        self.upkeep()
        if p.queue in self.paused:
            return ()
        taken: list[Item] = []
        for stalled in self.in_state(p.queue, "stalled"):
            if self.wanted(p, taken) > 0:
                self.take(stalled, taken)
        for lapsed in self.lapsed(p.queue)[: p.count - len(taken)]:
            self.lapse(lapsed, taken)
        if self.wanted(p, taken) > 0:
            self.spawn_due(p.queue, self.wanted(p, taken))
            self.come_due(p.queue)
        while self.wanted(p, taken) > 0 and (job := self.first_in_line(p.queue, taken)):
            self.take(job, taken)
        return tuple(self.hand_over(job, p) for job in taken)

    def wanted(self, p: c.Pop, taken: list[Item]) -> int:
        """How many jobs a pop may still take: it asks for so many, and so many may run in the queue."""
        asked = p.count - len(taken)
        limit = int(self.option("max-concurrency", p.queue))
        if limit <= 0:
            return asked
        running = {job.jid for job in [*self.in_state(p.queue, "running"), *taken]}
        return min(asked, limit - len(running))

    def first_in_line(self, queue: str, taken: list[Item]) -> Item | None:
        line = [job for job in self.line(queue) if job not in taken]
        if not line:
            self.let_in_queue(queue)
            line = [job for job in self.line(queue) if job not in taken]
        return line[0] if line else None

    def take(self, job: Item, taken: list[Item]) -> None:
        """Take a job, or hold it back where a throttle of it is full."""
        if self.fits(job):
            job.held = dict.fromkeys(job.throttles, self.now)
            taken.append(job)
            return
        self.note(job, "throttled", q=job.queue)
        job.state = "throttled"
        self.let_in_all(job.throttles)

    def lapsed(self, queue: str) -> list[Item]:
        found = [job for job in self.in_state(queue, "running") if job.expires <= self.now]
        return sorted(found, key=lambda job: (job.expires, job.seq))

    def lapse(self, job: Item, taken: list[Item]) -> None:
        grace = self.option("grace-period")
        if not job.grace:
            self.tell_watchers("stalled", job.jid)
            self.lock_lost(job, job.worker)
            self.note(job, "timed-out")
            self.counter(job.queue, self.now)[0] += 1
            if grace > 0:
                job.expires, job.grace = self.now + grace, True
                return
        if job.retries != -1 and job.remaining == 0:
            self.exhaust(job, job.worker)
            return
        job.remaining -= job.retries != -1
        job.ready_at = job.expires
        taken.append(job)

    def hand_over(self, job: Item, p: c.Pop) -> Job:
        self.waits.setdefault((p.queue, self.day(self.now)), []).append(self.now - job.ready_at)
        job.state, job.worker, job.popped_at, job.grace = "running", p.worker, self.now, False
        job.expires, job.attempt = self.now + self.option("heartbeat", p.queue), job.attempt + 1
        self.note(job, "popped", worker=p.worker)
        self.tell_watchers("popped", job.jid)
        return self.record(job)

    # What is due

    def spawn_due(self, queue: str, wanted: int) -> None:
        """Each due template spawns what it missed, the oldest first, as many as are wanted."""
        due = [t for t in self.templates.values() if t.record.queue == queue and t.record.next_due <= self.now]
        for template in sorted(due, key=lambda t: (t.record.next_due, t.record.jid)):
            spawned = 0
            while spawned < wanted and self.spawn(template):
                spawned += 1

    def spawn(self, template: Template) -> bool:
        """Spawn one job; False if none is due."""
        r = template.record
        # In whole microseconds, so that nothing is rounded.
        now, due, interval = (round(seconds * 10**6) for seconds in (self.now, r.next_due, r.interval))
        oldest = now - r.backlog * interval
        if r.backlog > 0 and due < oldest:
            due = oldest + (due - oldest) % interval
        if due > now:
            return False
        count = free_number(r.count, lambda number: f"{r.jid}-{number}" in self.jobs)
        template.record = msgspec.structs.replace(r, count=count, next_due=(due + interval) / 10**6)
        self.spawn_one(r, f"{r.jid}-{count}", due / 10**6)
        return True

    def spawn_one(self, r: RecurringJob, jid: str, due: float) -> None:
        job = Item(jid, r.klass, r.data, r.queue, seq=self.number(), spawned=r.jid, throttles=r.throttles)
        job.priority, job.retries, job.remaining = r.priority, r.retries, r.retries
        self.jobs[jid] = job
        self.stand(job)
        job.ready_at = due
        self.retag(job, r.tags)
        self.note(job, "put", due, q=r.queue)
        self.log("put", jid=jid, queue=r.queue)
        self.tell_watchers("put", jid)
        self.know(r.queue)

    def do_peek(self, p: c.Peek) -> tuple[Job, ...]:
        found = (self.in_state(p.queue, "stalled") + self.lapsed(p.queue))[: p.count]
        left = p.count - len(found)
        if left > 0:
            self.spawn_due(p.queue, left)
            self.come_due(p.queue)
            if len(self.line(p.queue)) < left:
                self.let_in_queue(p.queue)
            found += self.line(p.queue)[:left]
        return tuple(self.record(job) for job in found)

    def do_heartbeat(self, h: c.Heartbeat) -> float:
        job = self.held_by(h.jid, h.worker, h.attempt)
        job.expires, job.grace = self.now + self.option("heartbeat", job.queue), False
        job.data = h.data if h.data is not None else job.data
        self.workers[h.worker] = self.now
        return job.expires

    def record(self, job: Item) -> Job:
        """A job as it is seen now: one whose time has come reads as waiting."""
        came_due = job.state == "scheduled" and job.due <= self.now
        return Job(
            jid=job.jid,
            klass=job.klass,
            data=job.data,
            queue=job.queue,
            state=State("waiting" if came_due else job.state),
            worker=job.worker,
            expires=job.expires,
            priority=job.priority,
            retries=job.retries,
            remaining=job.remaining,
            tags=job.tags,
            dependencies=tuple(sorted(job.depends)),
            dependents=tuple(sorted(other.jid for other in self.dependents(job.jid))),
            throttles=job.throttles,
            tracked=job.jid in self.tracked,
            spawned_from_jid=job.spawned,
            failure=job.failure,
            history=tuple(job.history),
            attempt=job.attempt,
            result=job.result,
            on_dependency_failure=job.policy,  # type: ignore[arg-type]
            due=0.0 if came_due else job.due,
            ready_at=job.due if came_due else job.ready_at,
            popped_at=job.popped_at,
            grace=job.grace,
        )
