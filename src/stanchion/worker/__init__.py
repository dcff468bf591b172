"""The worker: it takes jobs, keeps their leases while the code of a job runs, and settles what comes of it.

``loop`` owns the queue: it pops and settles in batches, on one thread. ``threads`` and ``tasks`` own the code: they run it and
hand back an outcome. ``leases`` renews locks on a thread of its own. ``outcome`` decides, without I/O, what an outcome means.
"""

from __future__ import annotations

from stanchion.worker.active import ActiveJob, current_job
from stanchion.worker.loop import Worker

__all__ = ["ActiveJob", "Worker", "current_job"]
