"""Recurring jobs."""

from __future__ import annotations

import msgspec

from stanchion import commands as c
from stanchion.errors import RecurringJobNotFound
from stanchion.records import RecurringJob
from tests.model.naive.base import Template
from tests.model.naive.changing import Changing


class Recurring(Changing):
    """recur … recur.untag."""

    def do_recur(self, r: c.Recur) -> str:
        old = self.templates.get(r.jid)
        record = RecurringJob(
            jid=r.jid,
            klass=r.klass,
            data=r.data,
            queue=r.queue,
            interval=r.interval,
            next_due=self.now + r.offset,
            priority=r.priority,
            tags=r.tags,
            retries=r.retries,
            backlog=r.backlog,
            throttles=r.throttles,
            count=old.record.count if old else 0,
        )
        if old and not r.restart and self.same_schedule(old, r):
            record = msgspec.structs.replace(record, next_due=old.record.next_due)
        self.templates[r.jid] = Template(record, r.offset)
        self.know(r.queue)
        return r.jid

    def same_schedule(self, old: Template, r: c.Recur) -> bool:
        return (old.record.queue, old.record.interval, old.offset) == (r.queue, r.interval, r.offset)

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
        r = template.record
        names = ("priority", "interval", "retries", "data", "klass", "queue", "backlog")
        changes = {name: getattr(u, name) for name in names if getattr(u, name) is not None}
        if u.interval is not None and u.interval != r.interval:
            # Moved by the difference; not into the past, unless it is there; at most a new interval away.
            moved = max(r.next_due - r.interval + u.interval, min(r.next_due, self.now))
            changes["next_due"] = min(moved, self.now + u.interval)
        template.record = msgspec.structs.replace(r, **changes)
        if u.queue is not None:
            self.know(u.queue)
        return True

    def do_recur_tag(self, t: c.TagRecurring) -> tuple[str, ...]:
        template = self.template(t.jid)
        return self.retag_template(template, dict.fromkeys((*template.record.tags, *t.tags)))

    def do_recur_untag(self, t: c.UntagRecurring) -> tuple[str, ...]:
        template = self.template(t.jid)
        return self.retag_template(template, dict.fromkeys(tag for tag in template.record.tags if tag not in t.tags))

    def retag_template(self, template: Template, tags: dict[str, None]) -> tuple[str, ...]:
        template.record = msgspec.structs.replace(template.record, tags=tuple(tags))
        return template.record.tags
