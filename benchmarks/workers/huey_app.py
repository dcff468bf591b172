"""What ``huey_consumer`` loads."""

from __future__ import annotations

from benchmarks.contestants.contract import Site
from benchmarks.contestants.huey import HueyQueue
from benchmarks.workers.marks import Marker

_site = Site.of_environment()
huey = HueyQueue(_site, Marker(_site)).huey
