"""Several jobs at a time in one process."""

from __future__ import annotations

from stanchion.compat.qless.workers import Worker


class GeventWorker(Worker):
    """Runs ``greenlets`` jobs at a time, 10 unless given, each on a thread of this process: gevent is not used."""

    slots = "greenlets"

    def usual_count(self) -> int:
        """How many jobs run at once unless it is said."""
        return 10
