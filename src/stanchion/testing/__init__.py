"""What users test with: an app's jobs in memory, at a time that is turned by hand, run when the test says."""

from stanchion.testing.clock import Clock
from stanchion.testing.kit import Kit
from stanchion.testing.running import Endless, Ran

__all__ = ["Clock", "Endless", "Kit", "Ran"]
