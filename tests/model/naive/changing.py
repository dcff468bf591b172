"""Commands about single jobs: reading, priority, log, dependencies, tracking, tags."""

from __future__ import annotations

import msgspec

from stanchion import commands as c
from stanchion.errors import BadArgument, JobNotDepending
from stanchion.records import Job, JobPage, TrackedJobs
from tests.model.naive.base import Item
from tests.model.naive.settling import Settling


class Changing(Settling):
    """get … untag."""

    def do_get(self, g: c.Get) -> Job | None:
        return self.record(self.jobs[g.jid]) if g.jid in self.jobs else None

    def do_multiget(self, g: c.MultiGet) -> tuple[Job, ...]:
        return tuple(self.record(self.jobs[jid]) for jid in g.jids if jid in self.jobs)

    def do_priority(self, p: c.SetPriority) -> float:
        job = self.need(p.jid)
        job.priority = p.priority
        if job.state in ("waiting", "throttled"):
            self.let_in_all(job.throttles)
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
        self.lose_failed(job)
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
        self.tracked.setdefault(t.jid, (self.number(), self.now))
        self.events.append(("track", t.jid))
        return new

    def do_untrack(self, t: c.Untrack) -> bool:
        self.events.append(("untrack", t.jid))
        return self.tracked.pop(t.jid, None) is not None

    def tracked_jids(self) -> tuple[str, ...]:
        return tuple(sorted(self.tracked, key=lambda jid: self.tracked[jid]))

    def do_tracked(self, t: c.Tracked) -> TrackedJobs:
        there = [jid for jid in self.tracked_jids() if jid in self.jobs]
        gone = tuple(jid for jid in self.tracked_jids() if jid not in self.jobs)
        return TrackedJobs(tuple(self.record(self.jobs[jid]) for jid in there), gone)

    def do_tag(self, t: c.AddTags) -> tuple[str, ...]:
        job = self.need(t.jid)
        self.retag(job, dict.fromkeys((*job.tags, *t.tags)))
        return job.tags

    def do_untag(self, t: c.RemoveTags) -> tuple[str, ...]:
        job = self.need(t.jid)
        self.retag(job, [tag for tag in job.tags if tag not in t.tags])
        return job.tags

    def bearing(self, tag: str) -> tuple[str, ...]:
        """The jids that bear a tag, in the order in which they got it."""
        return tuple(jid for (one, jid), _ in sorted(self.tagged.items(), key=lambda item: item[1]) if one == tag)

    def do_tagged(self, t: c.Tagged) -> JobPage:
        found = self.bearing(t.tag)
        return JobPage(len(found), found[t.offset : t.offset + t.count])

    def do_tags(self, t: c.TopTags) -> tuple[str, ...]:
        counts = {tag: len(self.bearing(tag)) for tag, _ in self.tagged}
        top = sorted((tag for tag, count in counts.items() if count > 1), key=lambda tag: (-counts[tag], tag))
        return tuple(top[t.offset : t.offset + t.count])
