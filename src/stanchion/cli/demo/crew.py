"""The demo's workers: processes of their own, as they would be anywhere."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Self

from stanchion.cli.demo.pipeline import QUEUES

STOP_SECONDS = 10


class Crew:
    """Worker processes on a store; they are stopped when the block ends."""

    def __init__(self, url: str, workers: int) -> None:
        queues = [argument for queue in QUEUES for argument in ("-q", queue)]
        command = [sys.executable, "-m", "stanchion", "worker", "stanchion.cli.demo.pipeline:app", *queues, "--threads", "4"]
        environment = {**os.environ, "STANCHION_URL": url}
        self._processes = [
            subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for _ in range(workers)
        ]

    def trouble(self) -> str | None:
        """What the workers said last, once none of them runs any more."""
        if any(process.poll() is None for process in self._processes):
            return None
        return "\n".join(process.stderr.read().decode()[-2000:] for process in self._processes if process.stderr)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            try:
                process.communicate(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
