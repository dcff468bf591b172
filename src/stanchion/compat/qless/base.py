"""What jobs and recurring jobs have in common."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from stanchion.client.data import decode
from stanchion.compat.qless.calls import Caller, number
from stanchion.records import Job, RecurringJob


class BaseJob:
    """A job or a recurring job, its attributes as of when it was got."""

    def __init__(self, client: Caller, record: Job | RecurringJob) -> None:
        self.client = client
        self.jid = record.jid
        self.klass_name = record.klass
        self.queue_name = record.queue
        self.tags = list(record.tags)
        self._data = decode(record.data)
        self._priority = number(record.priority)

    def __repr__(self) -> str:
        return f"<{self.klass_name} {self.jid}>"

    @cached_property
    def queue(self) -> Any:
        """The queue that it is in."""
        return self.client.queues[self.queue_name]
