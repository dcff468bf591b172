"""What users test with: an app's jobs in memory, at a time that is turned by hand."""

from __future__ import annotations

from stanchion.testing.clock import Clock
from stanchion.testing.kit import Endless, Kit, Ran

__all__ = ["Clock", "Endless", "Kit", "Ran"]
