"""How jobs come in line and leave it, and the throttles that hold them back."""

from __future__ import annotations

from collections.abc import Iterable

from tests.model.naive.base import Base, Item


class Lines(Base):
    """Transitions into and out of a queue's collections."""

    # Throttles

    def limit(self, throttle: str) -> int:
        """The maximum; 0 for none, or one that has expired."""
        maximum, until = self.limits.get(throttle, (0, None))
        return 0 if until is not None and until <= self.now else maximum

    def room(self, throttle: str) -> float:
        limit = self.limit(throttle)
        return limit - sum(throttle in job.held for job in self.jobs.values()) if limit else float("inf")

    def fits(self, job: Item) -> bool:
        return all(self.room(throttle) > 0 for throttle in job.throttles)

    def let_in(self, throttle: str) -> None:
        """A place may be free: in each queue as many of the best that bear the throttle as it has room for are in line.

        Of those in line already each uses up one; a throttled one comes in if its other throttles have room as well.
        """
        for queue in sorted({job.queue for job in self.jobs.values() if job.state == "throttled"}):
            bearing = [job for job in self.in_state(queue, "waiting", "throttled") if throttle in job.throttles]
            rooms = {other: self.room(other) for job in bearing for other in job.throttles}
            slots = self.room(throttle)
            for job in sorted(bearing, key=lambda job: job.line):
                if slots > 0 and (job.state == "waiting" or self.comes_in(job, rooms)):
                    slots -= 1

    def let_in_queue(self, queue: str) -> None:
        """The line is too short: everybody in the queue who has room in all throttles comes in, best first."""
        throttled = sorted(self.in_state(queue, "throttled"), key=lambda job: job.line)
        rooms = {throttle: self.room(throttle) for job in throttled for throttle in job.throttles}
        for job in throttled:
            self.comes_in(job, rooms)

    def comes_in(self, job: Item, rooms: dict[str, float]) -> bool:
        if any(rooms[throttle] <= 0 for throttle in job.throttles):
            return False
        job.state = "waiting"
        for throttle in job.throttles:
            rooms[throttle] -= 1
        return True

    def let_in_all(self, throttles: Iterable[str]) -> None:
        for throttle in throttles:
            self.let_in(throttle)

    # Lines

    def leave(self, job: Item) -> None:
        """A job leaves wherever it is; the caller says where it goes."""
        if job.state == "failed":
            self.counter(job.queue, job.failed_at)[2] -= 1
        frees = bool(job.held) or job.state == "waiting"
        job.state, job.worker, job.expires, job.grace, job.held = "leaving", "", 0.0, False, {}
        if frees:
            self.let_in_all(job.throttles)

    def stand(self, job: Item, due: float = 0.0) -> None:
        """A job comes to its queue: to wait for what it depends on, or for its time, or in line."""
        later = due > self.now
        job.due = due if later else 0.0
        job.ready_at = due if later and not job.depends else self.now
        if job.depends:
            job.state = "depends"
        elif later:
            job.state = "scheduled"
        else:
            job.state = "waiting" if self.fits(job) else "throttled"

    def come_due(self, queue: str) -> None:
        """The schedule's due jobs stand in line, by the time they came due."""
        for job in self.in_state(queue, "scheduled"):
            if job.due <= self.now:
                job.state, job.ready_at, job.due = "waiting", job.due, 0.0

    def retag(self, job: Item, tags: Iterable[str]) -> None:
        job.tags = tuple(tags)
        for tag, jid in list(self.tagged):
            if jid == job.jid and tag not in job.tags:
                del self.tagged[tag, jid]
        for tag in job.tags:
            self.tagged.setdefault((tag, job.jid), self.number())

    def remove(self, job: Item) -> None:
        """A job goes with every trace."""
        self.leave(job)
        self.retag(job, ())
        del self.jobs[job.jid]

    # Housekeeping

    def upkeep(self) -> None:
        """What pops and completions do on the side."""
        for throttle, (_, until) in list(self.limits.items()):
            if until is not None and until <= self.now:
                del self.limits[throttle]
                self.let_in(throttle)
        self.workers = {name: seen for name, seen in self.workers.items() if self.is_there(seen)}
        oldest = self.now - self.option("jobs-history")
        self.tracked = {jid: (n, at) for jid, (n, at) in self.tracked.items() if jid in self.jobs or at >= oldest}
        keep = max(0, int(self.option("jobs-history-count")))
        for number, job in enumerate(self.done()):
            if number >= keep or job.completed_at < oldest:
                self.remove(job)

    def done(self) -> list[Item]:
        """The complete jobs, newest first."""
        found = [job for job in self.jobs.values() if job.state == "complete"]
        return sorted(found, key=lambda job: (job.completed_at, job.seq), reverse=True)

    def is_there(self, seen: float) -> bool:
        return seen >= self.now - self.option("max-worker-age")
