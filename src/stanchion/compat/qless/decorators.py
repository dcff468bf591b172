"""What can be said about a job's method."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def retry(*excepts: type[BaseException]) -> Callable[[Callable[[Any], Any]], Callable[[Any], None]]:
    """Let the job be tried again, at the cost of one retry, when its method raises one of these; else it would fail for good."""

    def decorate(function: Callable[[Any], Any]) -> Callable[[Any], None]:
        @functools.wraps(function)
        def tried(job: Any) -> None:
            try:
                function(job)
            except excepts:
                job.retry()

        return tried

    return decorate
