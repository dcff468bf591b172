"""The worker: it takes jobs, keeps their leases while the code of a job runs, and settles what comes of it.

``loop``, ``lanes``, ``lease`` and ``outcome`` decide: given what happened and the time, what to do next; no I/O, no clock.
``worker`` does it on one thread, in as few round trips as there are. ``pools`` run code to an outcome: on ``threads``, on the loop
of ``aio``, or in the children of ``process``. ``keeper`` renews locks on a thread of its own.
"""

from __future__ import annotations

from stanchion.worker.active import ActiveJob, LeaseLost, current_job
from stanchion.worker.process.nursery import CannotStart
from stanchion.worker.worker import Worker

__all__ = ["ActiveJob", "CannotStart", "LeaseLost", "Worker", "current_job"]
