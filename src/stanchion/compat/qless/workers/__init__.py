"""Workers as classes: each runs Stanchion's worker, and they differ by where the jobs run."""

from __future__ import annotations

import os
import socket
import threading
import uuid
from collections.abc import Sequence
from typing import Any, ClassVar

from stanchion.compat.qless.app import App
from stanchion.compat.qless.client import Client
from stanchion.compat.qless.queue import Queue
from stanchion.worker.worker import Worker as NativeWorker

NO_LONGER = frozenset({"interval", "resume", "sandbox"})
"""What qless-py's workers are told and these need not be: nothing is polled, jobs are handed back, folders are the system's."""


class Worker:
    """Runs the registered code for the jobs of some queues, given by name or as objects, in their order.

    It takes what qless-py's takes; ``interval``, ``resume`` and ``sandbox`` change nothing. TypeError for what it does not know.
    """

    slots: ClassVar[str] = ""
    """The argument that says how many jobs run at once; one at a time unless it is given."""

    def __init__(self, queues: Sequence[Queue | str], client: Client, **kwargs: Any) -> None:
        unknown = kwargs.keys() - NO_LONGER - {self.slots}
        if unknown:
            raise TypeError(f"{type(self).__name__} takes no {', '.join(sorted(unknown))}")
        self.client = client
        self.queues = [client.queues[queue] if isinstance(queue, str) else queue for queue in queues]
        self.kwargs = kwargs
        self.count = int(kwargs.get(self.slots) or self.usual_count())
        self.shutdown = False
        self._lock = threading.Lock()
        self._worker: NativeWorker | None = None

    def run(self, burst: bool = False) -> int:
        """Work until SIGTERM, or ``stop``; with ``burst`` until the queues are empty. How many jobs were run."""
        app = self.app()
        try:
            with self._lock:
                if self.shutdown:
                    return 0
                self._worker = worker = NativeWorker(app, self.lanes(), threads=self.count, name=self._name())
            is_main = threading.current_thread() is threading.main_thread()
            return worker.run_with_signals(burst=burst) if is_main else worker.run(burst=burst)
        finally:
            app.close()

    def stop(self) -> None:
        """Take no more jobs and finish those that run; called again, hand them back at once."""
        with self._lock:
            self.shutdown = True
            if self._worker is not None:
                self._worker.stop()

    def usual_count(self) -> int:
        """How many jobs run at once unless it is said."""
        return 1

    def app(self) -> App:
        """What is run."""
        return App(self.client)

    def lanes(self) -> list[str]:
        """The queues, as Stanchion's worker is told them."""
        return [queue.name for queue in self.queues]

    def _name(self) -> str | None:
        # Never the bare name of the client: what died and its successor are two workers.
        own = self.client.worker_name
        return None if own == socket.gethostname() else f"{own}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
