# Generated from ../aio/settings.py by tools/generate_sync.py: change that file, not this one.
"""What is set at run time: configuration, throttles, recurring jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stanchion import commands as c
from stanchion.client.sync.base import Part
from stanchion.client.data import encode, names
from stanchion.client.items import Items
from stanchion.records import RecurringJob, Throttle
from stanchion.rules.config import ConfigValue


class Config(Items, Part):
    """``client.config``: options stored with the queue, read by every command."""

    def get(self, option: str, *, now: float | None = None) -> ConfigValue | None:
        """What an option is set to, or its default."""
        return self._run(c.GetConfig(option), now)

    def all(self, *, now: float | None = None) -> dict[str, ConfigValue]:
        """Every option that has a default or was set."""
        return self._run(c.AllConfig(), now)

    def set(self, option: str, value: ConfigValue, *, now: float | None = None) -> None:
        """Set an option, for everyone, from now on."""
        self._run(c.SetConfig(option, value), now)

    def unset(self, option: str, *, now: float | None = None) -> None:
        """Give an option its default again."""
        self._run(c.UnsetConfig(option), now)


class Throttles(Part):
    """``client.throttles``: named limits on how many jobs run at once."""

    def set(self, id: str, maximum: int, *, expiration: float = 0.0, now: float | None = None) -> None:
        """Let at most ``maximum`` jobs with this throttle run at once, for ``expiration`` seconds (0: for good)."""
        self._run(c.SetThrottle(id, maximum, expiration), now)

    def get(self, id: str, *, now: float | None = None) -> Throttle:
        """The limit; maximum 0 where there is none."""
        return self._run(c.GetThrottle(id), now)

    def all(self, *, now: float | None = None) -> tuple[Throttle, ...]:
        """Every limit that is set."""
        return self._run(c.AllThrottles(), now)

    def delete(self, id: str, *, now: float | None = None) -> None:
        """Remove a limit."""
        self._run(c.DeleteThrottle(id), now)

    def locks(self, id: str, *, now: float | None = None) -> tuple[str, ...]:
        """The jobs that hold a place."""
        return self._run(c.ThrottleLocks(id), now)

    def pending(self, id: str, *, now: float | None = None) -> tuple[str, ...]:
        """The jobs that wait for a place."""
        return self._run(c.ThrottlePending(id), now)

    def release(self, id: str, *jids: str, now: float | None = None) -> None:
        """Take places from jobs by hand."""
        self._run(c.ReleaseThrottle(id, jids), now)


class Recurring(Part):
    """``client.recurring``: the templates that spawn jobs."""

    def get(self, jid: str, *, now: float | None = None) -> RecurringJob | None:
        """The template; None if there is none."""
        return self._run(c.GetRecurring(jid), now)

    def update(
        self,
        jid: str,
        *,
        priority: float | None = None,
        interval: float | None = None,
        retries: int | None = None,
        data: Any = None,
        klass: str | None = None,
        queue: str | None = None,
        backlog: int | None = None,
        now: float | None = None,
    ) -> None:
        """Change the template; what is left out stays."""
        text = None if data is None else encode(data, command="recur.update", argument="data")
        self._run(c.UpdateRecurring(jid, priority, interval, retries, text, klass, queue, backlog), now)

    def tag(self, jid: str, tags: Sequence[str], *, now: float | None = None) -> tuple[str, ...]:
        """Tag what it spawns from now on; all its tags."""
        return self._run(c.TagRecurring(jid, names(tags)), now)

    def untag(self, jid: str, tags: Sequence[str], *, now: float | None = None) -> tuple[str, ...]:
        """Take tags from the template; the tags left."""
        return self._run(c.UntagRecurring(jid, names(tags)), now)

    def stop(self, jid: str, *, now: float | None = None) -> None:
        """Remove the template. What it spawned stays."""
        self._run(c.Unrecur(jid), now)
