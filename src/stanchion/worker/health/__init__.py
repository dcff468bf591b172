"""Whether a worker is well, and who is told: systemd, a file, whoever asks over HTTP."""

from stanchion.worker.health.pulse import Pulse
from stanchion.worker.health.reporting import Reports

__all__ = ["Pulse", "Reports"]
