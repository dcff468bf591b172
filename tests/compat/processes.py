"""Code that a worker's processes import."""

from __future__ import annotations

import os
from typing import Any

from stanchion.compat import qless


class Work:
    """Says where it runs."""

    @staticmethod
    def process(job: Any) -> None:
        job["pid"] = os.getpid()
        job["sandbox"] = os.path.isdir(job.sandbox)
        job.complete()


def register() -> None:
    """As at the top of a module, but when a test says so."""
    qless.register(Work, klass="Ruby::Work")


register()
