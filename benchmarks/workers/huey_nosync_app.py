"""What ``huey_consumer`` loads for ``fsync=False``."""

from __future__ import annotations

from benchmarks.contestants.contract import Site
from benchmarks.contestants.huey import HueyWithoutSync
from benchmarks.workers.marks import Marker

_site = Site.of_environment()
huey = HueyWithoutSync(_site, Marker(_site)).huey
