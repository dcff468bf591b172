"""What is set at run time: configuration, throttles, recurring jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stanchion import commands as c
from stanchion.client.aio.base import AsyncPart
from stanchion.client.data import encode, names
from stanchion.client.items import AsyncItems
from stanchion.records import RecurringJob, Throttle
from stanchion.rules.config import ConfigValue


class AsyncConfig(AsyncItems, AsyncPart):
    """``client.config``: options stored with the queue, read by every command."""

    async def get(self, option: str, *, now: float | None = None) -> ConfigValue | None:
        """What an option is set to, or its default."""
        return await self._run(c.GetConfig(option), now)

    async def all(self, *, now: float | None = None) -> dict[str, ConfigValue]:
        """Every option that has a default or was set."""
        return await self._run(c.AllConfig(), now)

    async def set(self, option: str, value: ConfigValue, *, now: float | None = None) -> None:
        """Set an option, for everyone, from now on."""
        await self._run(c.SetConfig(option, value), now)

    async def unset(self, option: str, *, now: float | None = None) -> None:
        """Give an option its default again."""
        await self._run(c.UnsetConfig(option), now)


class AsyncThrottles(AsyncPart):
    """``client.throttles``: named limits on how many jobs run at once."""

    async def set(self, id: str, maximum: int, *, expiration: float = 0.0, now: float | None = None) -> None:
        """Let at most ``maximum`` jobs with this throttle run at once, for ``expiration`` seconds (0: for good)."""
        await self._run(c.SetThrottle(id, maximum, expiration), now)

    async def get(self, id: str, *, now: float | None = None) -> Throttle:
        """The limit; maximum 0 where there is none."""
        return await self._run(c.GetThrottle(id), now)

    async def all(self, *, now: float | None = None) -> tuple[Throttle, ...]:
        """Every limit that is set."""
        return await self._run(c.AllThrottles(), now)

    async def delete(self, id: str, *, now: float | None = None) -> None:
        """Remove a limit."""
        await self._run(c.DeleteThrottle(id), now)

    async def locks(self, id: str, *, now: float | None = None) -> tuple[str, ...]:
        """The jobs that hold a place."""
        return await self._run(c.ThrottleLocks(id), now)

    async def pending(self, id: str, *, now: float | None = None) -> tuple[str, ...]:
        """The jobs that wait for a place."""
        return await self._run(c.ThrottlePending(id), now)

    async def release(self, id: str, *jids: str, now: float | None = None) -> None:
        """Take places from jobs by hand."""
        await self._run(c.ReleaseThrottle(id, jids), now)


class AsyncRecurring(AsyncPart):
    """``client.recurring``: the templates that spawn jobs."""

    async def get(self, jid: str, *, now: float | None = None) -> RecurringJob | None:
        """The template; None if there is none."""
        return await self._run(c.GetRecurring(jid), now)

    async def update(
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
        await self._run(c.UpdateRecurring(jid, priority, interval, retries, text, klass, queue, backlog), now)

    async def tag(self, jid: str, tags: Sequence[str], *, now: float | None = None) -> tuple[str, ...]:
        """Tag what it spawns from now on; all its tags."""
        return await self._run(c.TagRecurring(jid, names(tags)), now)

    async def untag(self, jid: str, tags: Sequence[str], *, now: float | None = None) -> tuple[str, ...]:
        """Take tags from the template; the tags left."""
        return await self._run(c.UntagRecurring(jid, names(tags)), now)

    async def stop(self, jid: str, *, now: float | None = None) -> None:
        """Remove the template. What it spawned stays."""
        await self._run(c.Unrecur(jid), now)
