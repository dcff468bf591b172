"""``python -m benchmarks.workers.loop NAME THREADS``: a worker for a queue that ships none.

Each thread takes a job, runs it and settles it, and looks again after a pause when there is nothing. SIGTERM stops it.
"""

from __future__ import annotations

import signal
import sys
import threading

from benchmarks.contestants import load
from benchmarks.contestants.contract import Site
from benchmarks.workers.marks import Marker

POLL_SECONDS = 0.01


def main(name: str, threads: int) -> None:
    """Serve the site of the environment."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda number, frame: stop.set())
    site = Site.of_environment()
    contestant, mark = load(name)(site), Marker(site)

    def work() -> None:
        while not stop.is_set():
            if not contestant.pop_complete(mark):
                stop.wait(POLL_SECONDS)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    contestant.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
