"""What ``stanchion worker`` loads."""

from __future__ import annotations

from typing import Any

from benchmarks.contestants.contract import Site
from benchmarks.contestants.stanchion import KLASS, url
from benchmarks.workers.marks import Marker
from stanchion import App

_site = Site.of_environment()
_mark = Marker(_site)
app = App(url(_site))


class Noop:
    """The job class."""

    @staticmethod
    def process(job: Any) -> None:
        """Run a job."""
        _mark(job.data)


app.register(Noop, name=KLASS)
