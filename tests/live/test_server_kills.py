"""The server is killed, started again, and made to forget its functions, and workers are killed, while all are at work.

``make chaos`` runs it; STANCHION_SERVER_KILLS says how many times the server goes (60), STANCHION_SEED repeats a run. With an
append-only file a kill of the process loses nothing that was acknowledged, whatever ``appendfsync`` says.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from stanchion import Client
from stanchion.client.open import open_engine
from tests.servers import KEPT, Server, binaries

KILLS = int(os.environ.get("STANCHION_SERVER_KILLS", "60"))
SEED = int(os.environ.get("STANCHION_SEED", str(random.randrange(10**6))))
PROCESSES = 4

WORKER = """
import os, sys, time
from stanchion import Client
from stanchion.errors import LockLost, JobNotRunning, OutcomeUnknown, Retryable

url, name, log = sys.argv[1:]
out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
note = lambda *words: os.write(out, (" ".join(words) + "\\n").encode())
client = Client(url)
q = client.queues["q"]
n = 0
while True:
    try:
        n += 1
        note("put", q.put("k", jid=f"{name}-{n}", tags=["t"]))
        for job in q.pop_many(name, 2):
            note("start", job.jid, str(job.attempt), repr(time.monotonic()))
            try:
                job.complete()
                note("done", job.jid)
            except (LockLost, JobNotRunning):
                note("lost", job.jid)
    except (OutcomeUnknown, Retryable) as error:
        note("trouble", type(error).__name__)
"""


class Crew:
    """Processes at work, and what they noted."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url, self._folder, self._started = url, folder, 0
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        self._started += 1
        name = f"w{self._started}"
        arguments = [sys.executable, "-c", WORKER, self._url, name, str(self._folder / f"{name}.log")]
        self.running.append(subprocess.Popen(arguments, stderr=subprocess.PIPE))

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        self.running.remove(process)
        process.send_signal(signal.SIGKILL)
        _, error = process.communicate()
        assert process.returncode == -signal.SIGKILL, error.decode()

    def logs(self) -> list[list[list[str]]]:
        """The notes of each process that has not been killed, then of the others."""
        return [[line.split() for line in log.read_text().splitlines()] for log in sorted(self._folder.glob("w*.log"))]

    def started_since(self, since: float) -> int:
        """How many of the running processes have taken a job since then."""
        alive = {str(self._folder / f"w{number}.log") for number in range(1, self._started + 1)}
        starts = 0
        for log in alive:
            path = Path(log)
            lines = path.read_text().splitlines() if path.exists() else []
            starts += any(line.startswith("start") and float(line.split()[3]) > since for line in lines[-50:])
        return starts


def recovery(crew: Crew, since: float) -> float:
    """Seconds from then until every process has taken a job again."""
    while crew.started_since(since) < PROCESSES:
        assert time.monotonic() - since < 60, f"seed {SEED}: somebody does not come back"
        time.sleep(0.05)
    return time.monotonic() - since


@pytest.mark.live
@pytest.mark.parametrize("kind", sorted(binaries()))
def test_servers_come_and_go(kind: str, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    recoveries: list[float] = []
    with Server(kind, *KEPT) as server, server.client() as admin:
        with Client(server.url) as client:
            client.config.set("jobs-history", 10**9)
            client.config.set("jobs-history-count", 10**9)
        crew = Crew(f"{server.url}?timeout=20", tmp_path)
        for _ in range(PROCESSES):
            crew.start()
        began = time.monotonic()
        recovery(crew, began)
        for number in range(KILLS):
            time.sleep(chance.uniform(0.0, 0.5))
            if number % 3 == 0:
                admin.execute_command("FUNCTION", "FLUSH")
            else:
                server.kill()
                server.start()
            recoveries.append(recovery(crew, time.monotonic()))
        while crew.running:
            crew.kill(crew.running[-1])
        report(kind, crew, server.url, recoveries, time.monotonic() - began)


def report(kind: str, crew: Crew, url: str, recoveries: list[float], seconds: float) -> None:
    """Hold what the processes noted against what the server says."""
    events = [event for log in crew.logs() for event in log]
    acknowledged = {event[1] for event in events if event[0] == "put"}
    starts = Counter((event[1], event[2]) for event in events if event[0] == "start")
    done = Counter(event[1] for event in events if event[0] == "done")
    trouble = Counter(event[1] for event in events if event[0] == "trouble")
    with open_engine(url) as engine:  # type: ignore[attr-defined]
        dump, findings = engine.dump(), engine.check()
    lost = acknowledged - dump.jobs.keys()
    undone = {jid for jid in done if dump.jobs[jid].state != "complete"}
    twice = {start: count for start, count in starts.items() if count > 1}
    repeated = {jid for (jid, attempt) in starts if int(attempt) > 1}
    print(
        f"\n{kind}, seed {SEED}: {len(recoveries)} kills and flushes in {seconds:.0f} s; all back after at most"
        f" {max(recoveries):.1f} s, in the median {sorted(recoveries)[len(recoveries) // 2]:.2f} s; {len(acknowledged)} puts"
        f" acknowledged, {len(lost)} lost; {len(done)} completions, {len(undone)} undone; attempts started twice: {len(twice)};"
        f" jobs tried again: {len(repeated)}; calls that were not answered in time: {dict(trouble)}; fsck: {len(findings)}"
    )
    assert not lost
    assert not undone
    assert not twice
    assert max(recoveries) <= 5
    assert findings == []
