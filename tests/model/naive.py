"""The queue as plainly as it can be said: dictionaries, sorted lists, no thought of speed.

It is written from docs/specification.md, apart from any engine; where it and an engine disagree, one of them has a fault.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from stanchion import commands as c
from stanchion.engine.contract import QueueState, StateDump, ThrottleState, WorkerState
from stanchion.errors import (
    BadArgument,
    DependencyCircle,
    HasDependents,
    JobNotDepending,
    JobNotFound,
    JobNotRunning,
    LockLost,
    RecurringJobNotFound,
    StanchionError,
    WrongQueue,
)
from stanchion.records import (
    Failure,
    HistoryEntry,
    Job,
    JobPage,
    QueueCounts,
    QueueStats,
    RecurringJob,
    Throttle,
    Timing,
    TrackedJobs,
    WorkerCounts,
    WorkerJobs,
)
from stanchion.rules.config import OPTIONS, option_of
from stanchion.rules.histogram import bucket
from stanchion.states import State

DAY = 86400


@dataclass
class Item:
    """A job. ``held`` are the throttles in which it has a place."""

    jid: str
    klass: str
    data: str
    queue: str
    state: str
    seq: int
    ready_at: float = 0.0
    due: float = 0.0
    worker: str = ""
    expires: float = 0.0
    priority: float = 0.0
    retries: int = 5
    remaining: int = 5
    tags: tuple[str, ...] = ()
    throttles: tuple[str, ...] = ()
    depends: frozenset[str] = frozenset()
    spawned: str | None = None
    failure: Failure | None = None
    history: list[HistoryEntry] = field(default_factory=list)
    attempt: int = 0
    result: str | None = None
    policy: str = "wait"
    popped_at: float = 0.0
    grace: bool = False
    failed_at: float = 0.0
    completed_at: float = 0.0
    held: frozenset[str] = frozenset()

    @property
    def line(self) -> tuple[float, float, int]:
        return -self.priority, self.ready_at, self.seq


@dataclass
class Template:
    record: RecurringJob
    offset: float


@dataclass
class Naive:
    """The whole state. ``run`` is the one way to change it."""

    jobs: dict[str, Item] = field(default_factory=dict)
    templates: dict[str, Template] = field(default_factory=dict)
    queues: dict[str, int] = field(default_factory=dict)  # known ones, by when they were first seen
    paused: set[str] = field(default_factory=set)
    workers: dict[str, float] = field(default_factory=dict)
    tagged: dict[tuple[str, str], int] = field(default_factory=dict)  # (tag, jid) -> order of tagging
    tracked: dict[str, tuple[int, float]] = field(default_factory=dict)
    limits: dict[str, tuple[int, float | None]] = field(default_factory=dict)
    waits: dict[tuple[str, int], list[float]] = field(default_factory=dict)
    runs: dict[tuple[str, int], list[float]] = field(default_factory=dict)
    counters: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    count: int = 0
    now: float = 0.0

    # Small words

    def next(self) -> int:
        self.count += 1
        return self.count

    def option(self, name: str, queue: str | None = None) -> float:
        names = [f"{queue}-{name}", name] if queue else [name]
        if name == "max-concurrency":
            names = names[:1]
        for one in names:
            if one in self.config:
                return float(self.config[one])
        return float(OPTIONS[name].default) if name in OPTIONS else 0.0

    def need(self, jid: str) -> Item:
        if jid not in self.jobs:
            raise JobNotFound(jid=jid)
        return self.jobs[jid]

    def held(self, jid: str, worker: str, attempt: int | None) -> Item:
        job = self.running(jid)
        if job.worker != worker or attempt not in (None, job.attempt):
            raise LockLost(jid=jid, worker=worker, holder=job.worker)
        return job

    def running(self, jid: str) -> Item:
        job = self.need(jid)
        if job.state != "running":
            raise JobNotRunning(jid=jid, state=job.state)
        return job

    def note(self, job: Item, what: str, when: float | None = None, **more: Any) -> None:
        job.history.append(HistoryEntry(what, self.now if when is None else when, more))
        limit = int(self.option("max-job-history"))
        if limit > 0:
            while len(job.history) > limit and len(job.history) > 1:
                del job.history[1]

    def know(self, queue: str) -> None:
        self.queues.setdefault(queue, self.next())

    def counter(self, queue: str, when: float) -> list[int]:
        return self.counters.setdefault((queue, int(when // DAY) * DAY), [0, 0, 0])

    def in_state(self, queue: str, *states: str) -> list[Item]:
        return sorted((job for job in self.jobs.values() if job.queue == queue and job.state in states), key=lambda j: j.seq)

    # Throttles

    def room(self, throttle: str) -> float:
        maximum, expires = self.limits.get(throttle, (0, None))
        if maximum == 0 or (expires is not None and expires <= self.now):
            return float("inf")
        return maximum - sum(throttle in job.held for job in self.jobs.values())

    def fits(self, job: Item) -> bool:
        return all(self.room(throttle) > 0 for throttle in job.throttles)

    def let_in(self, throttle: str) -> None:
        """In each queue, as many of the best as the throttle has room for are, or come, in line."""
        if self.room(throttle) <= 0:
            return
        for queue in sorted({job.queue for job in self.jobs.values() if job.state == "throttled"}):
            slots = self.room(throttle)
            bearing = [job for job in self.jobs.values() if job.queue == queue and throttle in job.throttles]
            rooms = {other: self.room(other) for job in bearing for other in job.throttles}
            for job in sorted(bearing, key=lambda job: job.line):
                if slots <= 0:
                    break
                if job.state == "throttled" and all(rooms[other] > 0 for other in job.throttles):
                    job.state = "waiting"
                    slots -= 1
                    for other in job.throttles:
                        rooms[other] -= 1
                elif job.state == "waiting" and not job.held:
                    slots -= 1

    def let_all_in(self, throttles: tuple[str, ...]) -> None:
        for throttle in throttles:
            self.let_in(throttle)

    def let_in_queue(self, queue: str) -> bool:
        """Whoever of the queue has room in all its throttles comes in line, those that came before counted."""
        pending = sorted(self.in_state(queue, "throttled"), key=lambda job: job.line)
        rooms = {throttle: self.room(throttle) for job in pending for throttle in job.throttles}
        came = False
        for job in pending:
            if all(rooms[throttle] > 0 for throttle in job.throttles):
                job.state, came = "waiting", True
                for throttle in job.throttles:
                    rooms[throttle] -= 1
        return came

    # Lines

    def leave(self, job: Item) -> None:
        if job.state == "failed":
            counts = self.counter(job.queue, job.failed_at)
            counts[2] = max(0, counts[2] - 1)
        if job.held or job.state == "waiting":
            job.state, job.held = "leaving", frozenset()
            self.let_all_in(job.throttles)

    def stand(self, job: Item, due: float) -> None:
        """Put a job in its queue's line: at once, or when it is due, or after what it depends on."""
        job.worker, job.expires, job.grace = "", 0.0, False
        if job.depends:
            job.state, job.ready_at, job.due = "depends", self.now, due if due > self.now else 0.0
        elif due > self.now:
            job.state, job.ready_at, job.due = "scheduled", due, due
        else:
            job.state, job.ready_at, job.due = "waiting" if self.fits(job) else "throttled", self.now, 0.0

    def retag(self, job: Item, tags: tuple[str, ...]) -> None:
        for tag, jid in list(self.tagged):
            if jid == job.jid and tag not in tags:
                del self.tagged[tag, jid]
        for tag in tags:
            self.tagged.setdefault((tag, job.jid), self.next())
        job.tags = tags

    # Dependencies

    def dependents(self, jid: str) -> list[Item]:
        return [job for job in self.jobs.values() if jid in job.depends]

    def counting(self, jids: tuple[str, ...], policy: str) -> frozenset[str]:
        over = {"complete", "failed"} if policy == "run" else {"complete"}
        return frozenset(jid for jid in jids if jid in self.jobs and self.jobs[jid].state not in over)

    def check_circle(self, jid: str, on: frozenset[str]) -> None:
        seen, stack = set(), list(on)
        while stack:
            other = stack.pop()
            if other == jid:
                raise DependencyCircle(jid=jid, circle="")
            if other not in seen:
                seen.add(other)
                stack += self.jobs[other].depends

    def free(self, job: Item, from_jid: str) -> None:
        job.depends -= {from_jid}
        if not job.depends and job.state == "depends":
            self.stand(job, job.due)

    def lost(self, jid: str) -> None:
        """The job failed or is gone: each dependent does what its policy says."""
        for job in self.dependents(jid):
            if job.jid not in self.jobs or job.policy == "wait":
                continue
            if job.policy == "run":
                self.free(job, jid)
            elif job.policy == "cancel" and not any(d.policy == "wait" for d in self.dependents(job.jid)):
                self.remove(job)
                self.tracked.pop(job.jid, None)
                self.lost(job.jid)
            else:
                self.end_failed(job, "dependency-failed", f"Job {jid}, which it depends on, failed or was canceled", "")

    def end_failed(self, job: Item, group: str, message: str, worker: str) -> None:
        self.leave(job)
        self.note(job, "failed", worker=worker, group=group)
        job.failure, job.failed_at = Failure(group, message, self.now, worker), self.now
        job.state, job.worker, job.expires, job.grace, job.due, job.depends = "failed", "", 0.0, False, 0.0, frozenset()
        counts = self.counter(job.queue, self.now)
        counts[1] += 1
        counts[2] += 1
        self.lost(job.jid)

    def remove(self, job: Item) -> None:
        self.leave(job)
        self.retag(job, ())
        del self.jobs[job.jid]

    # Commands

    def run(self, command: c.Command[Any], now: float) -> Any:
        """The reply of a command, or the error raised; an error leaves everything as it was."""
        self.now = now
        saved = _copy(self)
        try:
            return getattr(self, "do_" + command.name.replace(".", "_"))(command)
        except StanchionError:
            self.__dict__.update(saved.__dict__)
            raise

    def do_put(self, p: c.Put) -> str:
        old = self.jobs.get(p.jid)
        if old and p.if_absent:
            return p.jid
        return self.put(
            p.jid,
            p.queue,
            klass=p.klass,
            data=p.data,
            priority=p.priority if p.priority is not None else old.priority if old else 0.0,
            tags=p.tags if p.tags is not None else old.tags if old else (),
            retries=p.retries if p.retries is not None else old.retries if old else 5,
            throttles=p.throttles,
            policy=p.on_dependency_failure,
            depends=p.depends,
            delay=p.delay,
        )

    def put(self, jid: str, queue: str, depends: tuple[str, ...], delay: float, tags: tuple[str, ...], **fields: Any) -> str:
        old = self.jobs.get(jid)
        on = self.counting(depends, fields["policy"])
        if old:
            self.check_circle(jid, on)
            self.leave(old)
        job = old or Item(jid, "", "", queue, "new", 0)
        for name, value in fields.items():
            setattr(job, name, value)
        job.depends = on if depends else job.depends
        job.queue, job.seq, job.remaining, job.popped_at, job.result = queue, self.next(), job.retries, 0.0, None
        self.jobs[jid] = job
        self.stand(job, self.now + delay if delay else 0.0)
        self.retag(job, tags)
        self.note(job, "put", q=queue)
        self.know(queue)
        for other in sorted(on):
            if self.jobs.get(other) and self.jobs[other].state == "failed":
                self.lost(other)
        return jid

    def do_requeue(self, r: c.Requeue) -> str:
        old = self.need(r.jid)
        return self.put(
            r.jid,
            r.queue,
            klass=r.klass if r.klass is not None else old.klass,
            data=r.data if r.data is not None else old.data,
            priority=r.priority if r.priority is not None else old.priority,
            tags=r.tags if r.tags is not None else old.tags,
            retries=r.retries if r.retries is not None else old.retries,
            throttles=r.throttles if r.throttles is not None else old.throttles,
            policy=old.policy,
            depends=r.depends,
            delay=r.delay,
        )

    def do_put_many(self, m: c.PutMany) -> tuple[str, ...]:
        try:
            return tuple(self.do_put(put) for put in m.puts)
        except StanchionError as error:
            raise BadArgument(command="put_many", argument="puts", problem=str(error)) from error

    def do_unfail(self, u: c.Unfail) -> int:
        failed = sorted(self.failed(u.group), key=lambda job: (job.failed_at, job.seq))[: u.count]
        for job in failed:
            self.again(job, u.queue, 0.0)
        if failed:
            self.know(u.queue)
        return len(failed)

    def again(self, job: Item, queue: str, due: float) -> None:
        self.leave(job)
        job.state, job.queue, job.seq, job.remaining, job.popped_at = "new", queue, self.next(), job.retries, 0.0
        self.stand(job, due)
        self.note(job, "put", q=queue)

    def failed(self, group: str) -> list[Item]:
        return [j for j in self.jobs.values() if j.state == "failed" and j.failure and j.failure.group == group]

    def do_cancel(self, x: c.Cancel) -> tuple[str, ...]:
        going = [jid for jid in x.jids if jid in self.jobs]
        looked = list(going)
        while looked:
            jid = looked.pop()
            for job in sorted(self.dependents(jid), key=lambda j: j.jid):
                if job.jid in going:
                    continue
                if job.policy == "wait":
                    raise HasDependents(jid=jid, dependent=job.jid)
                if job.policy == "cancel":
                    going.append(job.jid)
                    looked.append(job.jid)
        for jid in going:
            self.remove(self.jobs[jid])
            self.tracked.pop(jid, None)
        for jid in going:
            self.lost(jid)
        return tuple(going)

    def do_timeout(self, t: c.Timeout) -> None:
        for job in [self.running(jid) for jid in t.jids]:
            self.leave(job)
            self.note(job, "timed-out")
            job.state, job.worker, job.expires, job.grace, job.ready_at = "stalled", "", 0.0, False, self.now

    def do_pop(self, p: c.Pop) -> tuple[Job, ...]:
        self.workers[p.worker] = self.now
        self.upkeep()
        if p.queue in self.paused:
            return ()
        taken: list[Item] = []
        running = len(self.in_state(p.queue, "running"))
        limit = int(self.option("max-concurrency", p.queue))
        room = max(0, min(p.count, limit - running)) if limit > 0 else p.count
        for job in self.in_state(p.queue, "stalled"):
            if len(taken) < room:
                self.try_take(job, taken)
        for job in self.lapsed(p.queue)[: p.count - len(taken)]:
            self.lapse(job, taken, p)
        room = self.still(p, taken, limit)
        taken += self.take(p.queue, room)
        return tuple(self.hand(job, p) for job in taken)

    def take(self, queue: str, count: int) -> list[Item]:
        if count > 0:
            self.bring(queue, count)
        fresh: list[Item] = []
        while len(fresh) < count:
            wanted = count - len(fresh)
            line = sorted(self.in_state(queue, "waiting"), key=lambda j: j.line)[: len(fresh) + wanted]
            found = [job for job in line if job not in fresh]
            for job in found:
                if len(fresh) < count:
                    self.try_take(job, fresh)
            if len(found) < wanted and not self.let_in_queue(queue):
                break
        return fresh

    def still(self, p: c.Pop, taken: list[Item], limit: int) -> int:
        running = {job.jid for job in self.in_state(p.queue, "running")} | {job.jid for job in taken}
        wanted = p.count - len(taken)
        return min(wanted, limit - len(running)) if limit > 0 else wanted

    def try_take(self, job: Item, taken: list[Item]) -> bool:
        if self.fits(job):
            job.held = frozenset(job.throttles)
            taken.append(job)
            return True
        self.note(job, "throttled", q=job.queue)
        job.state = "throttled"
        self.let_all_in(job.throttles)
        return False

    def lapsed(self, queue: str) -> list[Item]:
        found = [job for job in self.in_state(queue, "running") if job.expires <= self.now]
        return sorted(found, key=lambda job: (job.expires, job.seq))

    def lapse(self, job: Item, taken: list[Item], p: c.Pop) -> None:
        grace = self.option("grace-period")
        if not job.grace:
            self.note(job, "timed-out")
            self.counter(job.queue, self.now)[0] += 1
            if grace > 0:
                job.expires, job.grace = self.now + grace, True
                return
        if job.retries != -1 and job.remaining - 1 < 0:
            self.exhaust(job, job.worker)
            return
        job.remaining = -1 if job.retries == -1 else job.remaining - 1
        job.ready_at = job.expires
        taken.append(job)

    def exhaust(self, job: Item, worker: str, group: str | None = None, message: str | None = None) -> None:
        text = f'Job exhausted retries in queue "{job.queue}"' if message is None else message
        self.end_failed(job, group or f"failed-retries-{job.queue}", text, worker)

    def hand(self, job: Item, p: c.Pop) -> Job:
        day = int(self.now // DAY) * DAY
        self.waits.setdefault((p.queue, day), []).append(self.now - job.ready_at)
        job.state, job.worker, job.popped_at, job.grace, job.due = "running", p.worker, self.now, False, 0.0
        job.expires, job.attempt = self.now + self.option("heartbeat", p.queue), job.attempt + 1
        self.note(job, "popped", worker=p.worker)
        return self.record(job)

    def bring(self, queue: str, wanted: int) -> None:
        """Everything due comes in line: spawned jobs, as many as are wanted, scheduled ones, and throttled ones that fit."""
        templates = [t for t in self.templates.values() if t.record.queue == queue and t.record.next_due <= self.now]
        left = min(wanted, 1000)
        for template in sorted(templates, key=lambda t: (t.record.next_due, t.record.jid)):
            left -= self.spawn(template, left)
        for job in self.in_state(queue, "scheduled"):
            if job.due <= self.now:
                job.state, job.ready_at, job.due = "waiting", job.due, 0.0

    def spawn(self, template: Template, limit: int) -> int:
        r = template.record
        spawned = 0
        due, count = r.next_due, r.count
        missed = []
        while due <= self.now:
            missed.append(due)
            due = r.next_due + len(missed) * r.interval
        if r.backlog > 0:
            missed = [when for when in missed if when >= self.now - r.backlog * r.interval]
        for when in missed[:limit]:
            count += 1
            while f"{r.jid}-{count}" in self.jobs:
                count += 1
            self.spawn_one(r, f"{r.jid}-{count}", when)
            spawned += 1
        rest = missed[limit:] if limit > 0 else missed
        if limit > 0:
            template.record = msgspec.structs.replace(r, count=count, next_due=rest[0] if rest else due)
        return spawned

    def spawn_one(self, r: RecurringJob, jid: str, when: float) -> None:
        job = Item(jid, r.klass, r.data, r.queue, "new", self.next(), spawned=r.jid, throttles=r.throttles)
        job.priority, job.retries, job.remaining = r.priority, r.retries, r.retries
        self.jobs[jid] = job
        self.stand(job, 0.0)
        job.ready_at = when
        self.retag(job, r.tags)
        self.note(job, "put", when, q=r.queue)
        self.know(r.queue)

    def do_peek(self, p: c.Peek) -> tuple[Job, ...]:
        found = self.in_state(p.queue, "stalled") + self.lapsed(p.queue)
        found = found[: p.count]
        if len(found) < p.count:
            left = p.count - len(found)
            self.bring(p.queue, left)
            if len(self.in_state(p.queue, "waiting")) < left:
                self.let_in_queue(p.queue)
            found += sorted(self.in_state(p.queue, "waiting"), key=lambda j: j.line)[:left]
        return tuple(self.record(job) for job in found)

    def do_heartbeat(self, h: c.Heartbeat) -> float:
        job = self.held(h.jid, h.worker, h.attempt)
        job.expires, job.grace = self.now + self.option("heartbeat", job.queue), False
        job.data = h.data if h.data is not None else job.data
        self.workers[h.worker] = self.now
        return job.expires

    def do_complete(self, x: c.Complete) -> str:
        state = self.complete(x)
        self.upkeep()
        return state

    def complete(self, x: c.Complete) -> str:
        job = self.held(x.jid, x.worker, x.attempt)
        if job.queue != x.queue:
            raise WrongQueue(jid=x.jid, queue=x.queue, actual=job.queue)
        day = int(self.now // DAY) * DAY
        on = self.counting(x.depends, job.policy)
        self.check_circle(job.jid, on)
        self.runs.setdefault((job.queue, day), []).append(self.now - job.popped_at)
        self.leave(job)
        self.note(job, "done")
        job.data = x.data if x.data is not None else job.data
        job.result = x.result if x.result is not None else job.result
        if x.next is None:
            self.end_complete(job)
            return "complete"
        job.state, job.depends = "new", on
        self.again(job, x.next, self.now + x.delay if x.delay else 0.0)
        self.know(x.next)
        for other in sorted(on):
            if other in self.jobs and self.jobs[other].state == "failed":
                self.lost(other)
        return self.jobs[job.jid].state if job.jid in self.jobs else job.state

    def end_complete(self, job: Item) -> None:
        job.state, job.queue, job.worker, job.expires, job.grace, job.due = "complete", "", "", 0.0, False, 0.0
        job.completed_at = self.now
        for other in sorted(self.dependents(job.jid), key=lambda j: j.seq):
            self.free(other, job.jid)
        done = sorted((j for j in self.jobs.values() if j.state == "complete"), key=lambda j: (j.completed_at, j.seq))
        oldest = self.now - self.option("jobs-history")
        keep = max(0, int(self.option("jobs-history-count")))
        for old in [*done[: max(0, len(done) - keep)], *[j for j in done if j.completed_at < oldest]]:
            if old.jid in self.jobs:
                self.remove(old)

    def do_complete_many(self, m: c.CompleteMany) -> tuple[str, ...]:
        try:
            states = tuple(self.complete(one) for one in m.completes)
        except StanchionError as error:
            raise BadArgument(command="complete_many", argument="completes", problem=str(error)) from error
        self.upkeep()
        return states

    def do_fail(self, f: c.Fail) -> str:
        job = self.held(f.jid, f.worker, f.attempt)
        job.data = f.data if f.data is not None else job.data
        self.end_failed(job, f.group, f.message, f.worker)
        return f.jid

    def do_retry(self, r: c.Retry) -> int:
        job = self.held(r.jid, r.worker, r.attempt)
        if job.retries != -1 and job.remaining - 1 < 0:
            self.exhaust(job, r.worker, r.group, r.message)
            return -1
        self.leave(job)
        job.remaining = -1 if job.retries == -1 else job.remaining - 1
        job.queue = r.queue
        self.stand(job, self.now + r.delay if r.delay else 0.0)
        if r.group is not None:
            job.failure = Failure(r.group, r.message or "", self.now, r.worker)
        self.know(r.queue)
        return job.remaining

    def do_get(self, g: c.Get) -> Job | None:
        return self.record(self.jobs[g.jid]) if g.jid in self.jobs else None

    def do_multiget(self, g: c.MultiGet) -> tuple[Job, ...]:
        return tuple(self.record(self.jobs[jid]) for jid in g.jids if jid in self.jobs)

    def do_priority(self, p: c.SetPriority) -> float:
        job = self.need(p.jid)
        job.priority = p.priority
        self.let_all_in(job.throttles)
        return p.priority

    def do_log(self, x: c.Log) -> None:
        job = self.need(x.jid)
        more = msgspec.json.decode(x.data) if x.data is not None else {}
        if not isinstance(more, dict):
            raise BadArgument(command="log", argument="data", problem="must be an object")
        self.note(job, x.message, **{key: value for key, value in more.items() if key not in ("what", "when")})

    def depending(self, jid: str) -> Item:
        job = self.need(jid)
        if job.state != "depends":
            raise JobNotDepending(jid=jid, state=job.state)
        return job

    def do_depend(self, d: c.Depend) -> bool:
        job = self.depending(d.jid)
        on = self.counting(d.on, job.policy)
        self.check_circle(job.jid, on)
        job.depends |= on
        for other in sorted(on):
            if self.jobs[other].state == "failed":
                self.lost(other)
        return True

    def do_undepend(self, d: c.Undepend) -> bool:
        job = self.depending(d.jid)
        job.depends -= job.depends if d.off is None else frozenset(d.off)
        if not job.depends:
            self.stand(job, job.due)
        return True

    def do_track(self, t: c.Track) -> bool:
        self.need(t.jid)
        new = t.jid not in self.tracked
        self.tracked.setdefault(t.jid, (self.next(), self.now))
        return new

    def do_untrack(self, t: c.Untrack) -> bool:
        return self.tracked.pop(t.jid, None) is not None

    def do_tracked(self, t: c.Tracked) -> TrackedJobs:
        jids = sorted(self.tracked, key=lambda jid: self.tracked[jid])
        there = [jid for jid in jids if jid in self.jobs]
        return TrackedJobs(tuple(self.record(self.jobs[j]) for j in there), tuple(j for j in jids if j not in there))

    def do_tag(self, t: c.AddTags) -> tuple[str, ...]:
        job = self.need(t.jid)
        self.retag(job, tuple(dict.fromkeys((*job.tags, *t.tags))))
        return job.tags

    def do_untag(self, t: c.RemoveTags) -> tuple[str, ...]:
        job = self.need(t.jid)
        self.retag(job, tuple(tag for tag in job.tags if tag not in t.tags))
        return job.tags

    def bearing(self, tag: str) -> tuple[str, ...]:
        return tuple(jid for (one, jid), _ in sorted(self.tagged.items(), key=lambda item: item[1]) if one == tag)

    def do_tagged(self, t: c.Tagged) -> JobPage:
        found = self.bearing(t.tag)
        return JobPage(len(found), found[t.offset : t.offset + t.count])

    def do_tags(self, t: c.TopTags) -> tuple[str, ...]:
        counts = {tag: len(self.bearing(tag)) for tag, _ in self.tagged}
        top = sorted((tag for tag, count in counts.items() if count > 1), key=lambda tag: (-counts[tag], tag))
        return tuple(top[t.offset : t.offset + t.count])

    def do_recur(self, r: c.Recur) -> str:
        old = self.templates.get(r.jid)
        same = old and (old.record.queue, old.record.interval, old.offset) == (r.queue, r.interval, r.offset)
        record = RecurringJob(
            r.jid,
            r.klass,
            r.data,
            r.queue,
            r.interval,
            old.record.next_due if old and same and not r.restart else self.now + r.offset,
            r.priority,
            r.tags,
            r.retries,
            r.backlog,
            r.throttles,
            old.record.count if old else 0,
        )
        self.templates[r.jid] = Template(record, r.offset)
        self.know(r.queue)
        return r.jid

    def do_unrecur(self, u: c.Unrecur) -> bool:
        self.templates.pop(u.jid, None)
        return True

    def do_recur_get(self, g: c.GetRecurring) -> RecurringJob | None:
        return self.templates[g.jid].record if g.jid in self.templates else None

    def template(self, jid: str) -> Template:
        if jid not in self.templates:
            raise RecurringJobNotFound(jid=jid)
        return self.templates[jid]

    def do_recur_update(self, u: c.UpdateRecurring) -> bool:
        template = self.template(u.jid)
        names = ("priority", "interval", "retries", "data", "klass", "queue", "backlog")
        changes = {name: getattr(u, name) for name in names if getattr(u, name) is not None}
        r = template.record
        if u.interval is not None:
            moved = r.next_due - r.interval + u.interval
            changes["next_due"] = min(max(moved, min(r.next_due, self.now)), self.now + u.interval)
        template.record = msgspec.structs.replace(r, **changes)
        self.know(template.record.queue)
        return True

    def do_recur_tag(self, t: c.TagRecurring) -> tuple[str, ...]:
        template = self.template(t.jid)
        tags = tuple(dict.fromkeys((*template.record.tags, *t.tags)))
        template.record = msgspec.structs.replace(template.record, tags=tags)
        return tags

    def do_recur_untag(self, t: c.UntagRecurring) -> tuple[str, ...]:
        template = self.template(t.jid)
        tags = tuple(tag for tag in template.record.tags if tag not in t.tags)
        template.record = msgspec.structs.replace(template.record, tags=tags)
        return tags

    def do_queues(self, q: c.AllCounts) -> tuple[QueueCounts, ...]:
        return tuple(self.do_counts(c.Counts(name)) for name in sorted(self.queues, key=lambda name: self.queues[name]))

    def do_counts(self, q: c.Counts) -> QueueCounts:
        def many(listing: str) -> int:
            return len(self.listed(listing, q.queue))

        return QueueCounts(
            q.queue,
            many("waiting"),
            many("running"),
            many("stalled"),
            many("scheduled"),
            many("depends"),
            many("throttled"),
            many("recurring"),
            q.queue in self.paused,
        )

    def do_length(self, q: c.Length) -> int:
        counts = self.do_counts(c.Counts(q.queue))
        return counts.waiting + counts.running + counts.stalled + counts.scheduled

    def listed(self, listing: str, queue: str | None) -> list[str]:
        if listing == "complete":
            done = [job for job in self.jobs.values() if job.state == "complete"]
            return [job.jid for job in sorted(done, key=lambda j: (j.completed_at, j.seq), reverse=True)]
        if listing == "recurring":
            found = [t.record for t in self.templates.values() if t.record.queue == queue]
            return [r.jid for r in sorted(found, key=lambda r: (r.next_due, r.jid))]
        jobs = [job for job in self.jobs.values() if job.queue == queue]
        due = [job for job in jobs if job.state == "scheduled" and job.due <= self.now]
        if listing == "waiting":
            lines = [(job.line, job.jid) for job in jobs if job.state == "waiting"]
            lines += [((-job.priority, job.due, job.seq), job.jid) for job in due]
            return [jid for _, jid in sorted(lines)]
        if listing in ("running", "stalled"):
            held = sorted((j for j in jobs if j.state in ("running", "stalled")), key=lambda j: (j.expires, j.seq))
            return [j.jid for j in held if (j.expires > self.now) == (listing == "running")]
        if listing == "scheduled":
            later = [job for job in jobs if job.state == "scheduled" and job.due > self.now]
            return [job.jid for job in sorted(later, key=lambda j: (j.due, j.seq))]
        state = "depends" if listing == "blocked" else listing
        found_jobs = [job for job in jobs if job.state == state]
        if listing == "blocked":
            found_jobs = [j for j in found_jobs if any(self.jobs[d].state == "failed" for d in j.depends)]
        return [job.jid for job in sorted(found_jobs, key=lambda j: (j.ready_at, j.seq))]

    def do_jobs(self, j: c.ListJobs) -> tuple[str, ...]:
        return tuple(self.listed(j.state, j.queue)[j.offset : j.offset + j.count])

    def do_pause(self, p: c.Pause) -> None:
        self.paused |= set(p.queues)

    def do_unpause(self, p: c.Unpause) -> None:
        self.paused -= set(p.queues)

    def do_queue_forget(self, f: c.ForgetQueues) -> None:
        for queue in f.queues:
            self.queues.pop(queue, None)

    def do_stats(self, s: c.Stats) -> QueueStats:
        when = self.now if s.date is None else s.date
        return self.stats(s.queue, int(when // DAY) * DAY)

    def stats(self, queue: str, day: int) -> QueueStats:
        today = int(self.now // DAY) * DAY
        if day < today - max(0, int(self.option("stats-history")) - 1) * DAY:
            return QueueStats()
        drawn = day >= today - max(0, int(self.option("histogram-history")) - 1) * DAY
        retries, failures, failed = self.counters.get((queue, day), [0, 0, 0])
        wait, run = (_timing(kind.get((queue, day), []), drawn) for kind in (self.waits, self.runs))
        return QueueStats(wait, run, retries, failures, failed)

    def do_failures(self, f: c.FailureGroups) -> dict[str, int]:
        groups: dict[str, int] = {}
        for job in self.jobs.values():
            if job.state == "failed" and job.failure:
                groups[job.failure.group] = groups.get(job.failure.group, 0) + 1
        return groups

    def do_failed(self, f: c.Failed) -> JobPage:
        found = sorted(self.failed(f.group), key=lambda j: (j.failed_at, j.seq), reverse=True)
        return JobPage(len(found), tuple(job.jid for job in found[f.start : f.start + f.limit]))

    def holding(self, worker: str) -> list[Item]:
        return [job for job in self.jobs.values() if job.worker == worker and worker]

    def do_workers(self, w: c.AllWorkers) -> tuple[WorkerCounts, ...]:
        oldest = self.now - self.option("max-worker-age")
        seen = sorted((-when, name) for name, when in self.workers.items() if when >= oldest)
        found = []
        for when, name in seen:
            held = self.holding(name)
            lapsed = sum(job.expires <= self.now for job in held)
            found.append(WorkerCounts(name, len(held) - lapsed, lapsed, -when))
        return tuple(found)

    def do_worker(self, w: c.JobsOfWorker) -> WorkerJobs:
        held = sorted(self.holding(w.worker), key=lambda j: (-j.expires, -j.seq))
        return WorkerJobs(
            tuple(j.jid for j in held if j.expires > self.now), tuple(j.jid for j in held if j.expires <= self.now)
        )

    def do_worker_deregister(self, d: c.Deregister) -> int:
        oldest = self.now - self.option("max-worker-age")
        return sum(self.workers.pop(worker, float("-inf")) >= oldest for worker in d.workers)

    def do_throttle_set(self, t: c.SetThrottle) -> None:
        self.limits[t.id] = (t.maximum, self.now + t.expiration if t.expiration else None)
        self.let_in(t.id)

    def do_throttle_get(self, t: c.GetThrottle) -> Throttle:
        maximum, expires = self.limits.get(t.id, (0, None))
        if expires is not None:
            return Throttle(t.id, maximum, expires - self.now) if expires > self.now else Throttle(t.id)
        return Throttle(t.id, maximum)

    def do_throttles(self, t: c.AllThrottles) -> tuple[Throttle, ...]:
        alive = sorted(id for id, (_, expires) in self.limits.items() if expires is None or expires > self.now)
        return tuple(self.do_throttle_get(c.GetThrottle(id)) for id in alive)

    def do_throttle_delete(self, t: c.DeleteThrottle) -> None:
        self.limits.pop(t.id, None)
        self.let_in(t.id)

    def locks(self, throttle: str) -> tuple[str, ...]:
        held = [job for job in self.jobs.values() if throttle in job.held]
        return tuple(job.jid for job in sorted(held, key=lambda j: (j.popped_at, j.seq)))

    def do_throttle_locks(self, t: c.ThrottleLocks) -> tuple[str, ...]:
        return self.locks(t.id)

    def pending(self, throttle: str) -> tuple[str, ...]:
        found = [job for job in self.jobs.values() if job.state == "throttled" and throttle in job.throttles]
        return tuple(job.jid for job in sorted(found, key=lambda j: j.line))

    def do_throttle_pending(self, t: c.ThrottlePending) -> tuple[str, ...]:
        return self.pending(t.id)

    def do_throttle_release(self, t: c.ReleaseThrottle) -> None:
        for jid in t.jids:
            if jid in self.jobs:
                self.jobs[jid].held -= {t.id}
        self.let_in(t.id)

    def do_config_get(self, g: c.GetConfig) -> Any:
        if g.option in self.config:
            return self.config[g.option]
        option = option_of(g.option)
        if option is None or g.option in OPTIONS:
            return option.default if option else None
        general = next(name for name in ("heartbeat", "max-pop-retry", "") if g.option.endswith(name))
        return self.config.get(general, option.default)

    def do_config_all(self, g: c.AllConfig) -> dict[str, Any]:
        return {**{name: option.default for name, option in OPTIONS.items()}, **self.config}

    def do_config_set(self, s: c.SetConfig) -> None:
        self.config[s.option] = s.value

    def do_config_unset(self, u: c.UnsetConfig) -> None:
        self.config.pop(u.option, None)

    def upkeep(self) -> None:
        for id in [id for id, (_, expires) in self.limits.items() if expires is not None and expires <= self.now]:
            del self.limits[id]
            self.let_in(id)
        oldest = self.now - self.option("max-worker-age")
        self.workers = {name: seen for name, seen in self.workers.items() if seen >= oldest}
        old = self.now - self.option("jobs-history")
        self.tracked = {jid: at for jid, at in self.tracked.items() if jid in self.jobs or at[1] >= old}

    # Showing

    def record(self, job: Item) -> Job:
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

    def dump(self, now: float) -> StateDump:
        self.now = now
        names = {*self.queues, *self.paused, *(j.queue for j in self.jobs.values() if j.queue)}
        names |= {t.record.queue for t in self.templates.values()}
        oldest = now - self.option("max-worker-age")
        groups = self.do_failures(c.FailureGroups())
        throttles = {*self.limits, *(t for j in self.jobs.values() for t in j.throttles)}
        stats: dict[str, dict[int, QueueStats]] = {}
        for queue, day in {*self.waits, *self.runs, *self.counters}:
            found = self.stats(queue, day)
            if found != QueueStats():
                stats.setdefault(queue, {})[day] = found
        return StateDump(
            now=now,
            jobs={jid: self.record(job) for jid, job in self.jobs.items()},
            recurring={jid: t.record for jid, t in self.templates.items()},
            queues={name: self.queue(name) for name in names},
            workers={
                name: WorkerState(seen, tuple(sorted(j.jid for j in self.holding(name))))
                for name, seen in self.workers.items()
                if seen >= oldest
            },
            complete=tuple(self.listed("complete", None)),
            failures={group: self.do_failed(c.Failed(group, 0, 10**6)).jobs for group in groups},
            tags={tag: self.bearing(tag) for tag, _ in self.tagged},
            tracked=tuple(sorted(self.tracked, key=lambda jid: self.tracked[jid])),
            throttles={
                t: ThrottleState(limit, self.locks(t), self.pending(t))
                for t in throttles
                if (limit := self.do_throttle_get(c.GetThrottle(t))).maximum or self.locks(t) or self.pending(t)
            },
            stats=stats,
            config=self.do_config_all(c.AllConfig()),
        )

    def queue(self, name: str) -> QueueState:
        return QueueState(
            known=name in self.queues,
            paused=name in self.paused,
            waiting=tuple(self.listed("waiting", name)),
            running={j.jid: j.expires for j in self.in_state(name, "running")},
            stalled=tuple(j.jid for j in self.in_state(name, "stalled")),
            scheduled={jid: self.jobs[jid].due for jid in self.listed("scheduled", name)},
            depends=tuple(self.listed("depends", name)),
            throttled=tuple(self.listed("throttled", name)),
            recurring={jid: self.templates[jid].record.next_due for jid in self.listed("recurring", name)},
        )


def _timing(values: list[float], drawn: bool) -> Timing:
    if not values:
        return Timing()
    mean = sum(values) / len(values)
    squares = sum((value - mean) ** 2 for value in values)
    histogram = [0] * 148
    for value in values if drawn else ():
        histogram[bucket(value)] += 1
    std = (squares / (len(values) - 1)) ** 0.5 if len(values) > 1 else 0.0
    return Timing(len(values), mean, std, tuple(histogram))


def _copy(naive: Naive) -> Naive:
    saved = replace(naive)
    for name, value in naive.__dict__.items():
        if isinstance(value, dict | set | list):
            setattr(saved, name, value.copy())
    saved.jobs = {jid: replace(job, history=list(job.history)) for jid, job in naive.jobs.items()}
    saved.templates = {jid: replace(template) for jid, template in naive.templates.items()}
    saved.counters = {key: list(value) for key, value in naive.counters.items()}
    saved.waits = {key: list(value) for key, value in naive.waits.items()}
    saved.runs = {key: list(value) for key, value in naive.runs.items()}
    return saved
