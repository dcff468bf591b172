"""One job at a time."""

from __future__ import annotations

from stanchion.compat.qless.workers import Worker


class SerialWorker(Worker):
    """Runs one job at a time, on a thread of this process."""
