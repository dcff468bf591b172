"""What ``stanchion worker`` runs: the queues at a URL, and all code that is registered."""

from __future__ import annotations

import logging
from tempfile import TemporaryDirectory
from typing import Any

from stanchion.compat.qless import registry
from stanchion.compat.qless.client import Client
from stanchion.compat.qless.job import Job
from stanchion.compat.qless.urls import url_of
from stanchion.rules.backoff import Exponential
from stanchion.tasks.app import App as TasksApp
from stanchion.tasks.registry import Runnable
from stanchion.worker.active import ActiveJob

logger = logging.getLogger("stanchion.compat.qless")


class App(TasksApp):
    """An app whose jobs may run what is registered here, by ``qless.register``, beside its own tasks.

    The URL, or the parts of it, are those of :class:`Client`, which can also be given itself.
    """

    def __init__(self, client: Client | str | None = None, **server: Any) -> None:
        super().__init__(client.url if isinstance(client, Client) else url_of(client, **server))

    @property
    def runnables(self) -> dict[str, Runnable]:
        """The code that jobs may run, by klass."""
        registered = registry.registered()
        return {klass: self._runnable(klass, one.module) for klass, one in registered.items()} | super().runnables

    def _runnable(self, klass: str, module: str) -> Runnable:
        return Runnable(klass, self._process, lambda queue: False, None, Exponential(), module)

    def _process(self, active: ActiveJob) -> None:
        client = Client.through(lambda: self.client, active.worker)
        job = Job(client, active.record, active.perform)
        with TemporaryDirectory(prefix="qless-") as job.sandbox:
            job.process()
        if not active.lease.settled and not active.lost:
            logger.warning("%s has not settled job %s: its lock will lapse", job.klass_name, job.jid)
            # The worker is to complete nothing that its code has not: as if it had been settled, it is left alone.
            active.lease.settled = True


default = App()
"""The app of workers that are made of a client: processes find it here."""
