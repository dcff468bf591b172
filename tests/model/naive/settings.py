"""Throttles and configuration."""

from __future__ import annotations

from typing import Any

from stanchion import commands as c
from stanchion.records import Throttle
from stanchion.rules.config import OPTIONS, QUEUE_OPTIONS
from tests.model.naive.queues import Queues


class Settings(Queues):
    """throttle.set … config.unset."""

    def do_throttle_set(self, t: c.SetThrottle) -> None:
        self.limits[t.id] = (t.maximum, self.now + t.expiration if t.expiration else None)
        self.let_in(t.id)

    def is_set(self, throttle: str) -> bool:
        _, until = self.limits.get(throttle, (0, self.now))
        return until is None or until > self.now

    def do_throttle_get(self, t: c.GetThrottle) -> Throttle:
        if not self.is_set(t.id):
            return Throttle(t.id)
        maximum, until = self.limits[t.id]
        return Throttle(t.id, maximum, None if until is None else until - self.now)

    def do_throttles(self, t: c.AllThrottles) -> tuple[Throttle, ...]:
        return tuple(self.do_throttle_get(c.GetThrottle(id)) for id in sorted(self.limits) if self.is_set(id))

    def do_throttle_delete(self, t: c.DeleteThrottle) -> None:
        self.limits.pop(t.id, None)
        self.let_in(t.id)

    def do_throttle_locks(self, t: c.ThrottleLocks) -> tuple[str, ...]:
        held = [job for job in self.jobs.values() if t.id in job.held]
        return tuple(job.jid for job in sorted(held, key=lambda job: (job.held[t.id], job.seq)))

    def do_throttle_pending(self, t: c.ThrottlePending) -> tuple[str, ...]:
        found = [job for job in self.jobs.values() if job.state == "throttled" and t.id in job.throttles]
        return tuple(job.jid for job in sorted(found, key=lambda job: job.line))

    def do_throttle_release(self, t: c.ReleaseThrottle) -> None:
        for jid in t.jids:
            if jid in self.jobs:
                self.jobs[jid].held.pop(t.id, None)
        self.let_in(t.id)

    def do_config_get(self, g: c.GetConfig) -> Any:
        """What was set, else its default; an option of a queue has the general one's value for its default."""
        if g.option in self.config:
            return self.config[g.option]
        if g.option in OPTIONS:
            return OPTIONS[g.option].default
        for name, option in QUEUE_OPTIONS.items():
            if g.option.endswith("-" + name):
                return self.config.get(name, option.default) if name in OPTIONS else option.default
        return None

    def do_config_all(self, g: c.AllConfig) -> dict[str, Any]:
        return {**{name: option.default for name, option in OPTIONS.items()}, **self.config}

    def do_config_set(self, s: c.SetConfig) -> None:
        self.config[s.option] = s.value
        self.log("config_set", option=s.option, value=s.value)

    def do_config_unset(self, u: c.UnsetConfig) -> None:
        self.config.pop(u.option, None)
        self.log("config_unset", option=u.option)
