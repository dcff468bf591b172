"""Recurring jobs: templates that spawn jobs."""

from __future__ import annotations

from typing import Any

from stanchion import commands as c
from stanchion.compat.qless import registry
from stanchion.compat.qless.base import BaseJob
from stanchion.compat.qless.calls import Caller, as_json, as_list, number
from stanchion.records import RecurringJob as Record


class RecurringJob(BaseJob):
    """A template. Setting its ``priority``, ``retries``, ``interval``, ``data`` or ``klass`` changes it in the queue.

    ``count`` is how many jobs it had spawned when it was got.
    """

    def __init__(self, client: Caller, record: Record) -> None:
        super().__init__(client, record)
        self._retries = record.retries
        self._interval = number(record.interval)
        self.count = record.count

    @property
    def next(self) -> float | None:
        """When it spawns next, seconds since the epoch; None once it is canceled."""
        record = self.client.run(c.GetRecurring, self.jid)
        return None if record is None else record.next_due

    @property
    def priority(self) -> float:
        """The priority of what it spawns."""
        return self._priority

    @priority.setter
    def priority(self, priority: float) -> None:
        self._update(priority=priority)
        self._priority = priority

    @property
    def retries(self) -> int:
        """The retries of what it spawns."""
        return self._retries

    @retries.setter
    def retries(self, retries: int) -> None:
        self._update(retries=retries)
        self._retries = retries

    @property
    def interval(self) -> float:
        """Seconds from one job to the next."""
        return self._interval

    @interval.setter
    def interval(self, interval: float) -> None:
        self._update(interval=interval)
        self._interval = interval

    @property
    def data(self) -> Any:
        """The data of what it spawns. A change in place stays here: set it."""
        return self._data

    @data.setter
    def data(self, data: Any) -> None:
        self._update(data=as_json(data, "recur.update"))
        self._data = data

    @property
    def klass(self) -> Any:
        """The class or function that is registered for what it spawns. Raises UnregisteredKlass if there is none."""
        return registry.lookup(self.klass_name)

    @klass.setter
    def klass(self, klass: Any) -> None:
        name = registry.learn(klass)
        self._update(klass=name)
        self.klass_name = name

    def move(self, queue: str) -> bool:
        """Let it spawn into another queue."""
        return self._update(queue=queue)

    def cancel(self) -> None:
        """Remove the template. What it spawned stays."""
        self.client.run(c.Unrecur, self.jid)

    def tag(self, *tags: str) -> str:
        """Tag what it spawns from now on; all its tags, as a JSON text."""
        return as_list(self.client.run(c.TagRecurring, self.jid, tags))

    def untag(self, *tags: str) -> str:
        """Take tags from the template; the tags left, as a JSON text."""
        return as_list(self.client.run(c.UntagRecurring, self.jid, tags))

    def _update(self, **changes: Any) -> bool:
        return self.client.run(c.UpdateRecurring, self.jid, **changes)
