"""Jobs in processes."""

from __future__ import annotations

import os

from stanchion.compat.qless.app import App, default
from stanchion.compat.qless.workers import Worker


class ForkingWorker(Worker):
    """Runs jobs in ``workers`` processes for each of the queues, as many as there are CPUs unless given.

    The processes import the modules that registered code, and so have it registered, too. One at a time in a program.
    """

    slots = "workers"

    def usual_count(self) -> int:
        """How many processes there are for each queue unless it is said."""
        return os.cpu_count() or 1

    def app(self) -> App:
        """What is run: the one that the processes find in its module."""
        default.use(self.client.url)
        return default

    def lanes(self) -> list[str]:
        """The queues, each with processes of its own."""
        return [f"{queue.name}=process:{self.count}" for queue in self.queues]
