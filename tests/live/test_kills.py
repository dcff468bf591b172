"""kill -9 at random moments, many processes on one file: nothing acknowledged is lost, nothing is in two places.

``make chaos`` runs it; STANCHION_KILLS says how many kills (500), STANCHION_SEED repeats a run.
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

KILLS = int(os.environ.get("STANCHION_KILLS", "500"))
SEED = int(os.environ.get("STANCHION_SEED", str(random.randrange(10**6))))
PROCESSES = 8

WRITER = """
import os, sys
from stanchion import Client
from stanchion.commands import Complete, CompleteMany

url, name, log = sys.argv[1:]
out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
client = Client(url)
q = client.queues["q"]
n = 0
while True:
    for _ in range(3):
        n += 1
        jid = q.put("k", jid=f"{name}-{n}", tags=["t"])
        os.write(out, f"put {jid}\\n".encode())
    jids = client.put_many([q.new("k", jid=f"{name}-{n}-{m}", depends=[f"{name}-{n}-{m - 1}"] if m else []) for m in range(3)])
    os.write(out, "".join(f"put {jid}\\n" for jid in jids).encode())
    for job in q.pop_many(name, 4):
        os.write(out, f"start {job.jid} {job.attempt}\\n".encode())
        job.complete(result=name)
        os.write(out, f"done {job.jid}\\n".encode())
"""


class Nemesis:
    """Processes that write, and a hand that kills them."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url, self._folder = url, folder
        self._started = 0
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        self._started += 1
        name = f"w{self._started}"
        arguments = [sys.executable, "-c", WRITER, self._url, name, str(self._folder / f"{name}.log")]
        self.running.append(subprocess.Popen(arguments, stderr=subprocess.PIPE))

    def kill_one(self, chance: random.Random) -> None:
        process = self.running.pop(chance.randrange(len(self.running)))
        process.send_signal(signal.SIGKILL)
        _, error = process.communicate()
        assert process.returncode == -signal.SIGKILL, error.decode()

    def logs(self) -> list[list[str]]:
        lines = [line for log in sorted(self._folder.glob("*.log")) for line in log.read_text().splitlines()]
        return [line.split() for line in lines]


@pytest.mark.live
def test_kill_minus_nine_loses_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    chance = random.Random(SEED)
    with Client(url) as client:
        client.config.set("jobs-history", 10**9)
        client.config.set("jobs-history-count", 10**9)
        client.config.set("heartbeat", 1.0)
        client.config.set("grace-period", 0.5)
    nemesis = Nemesis(url, tmp_path)
    began = time.monotonic()
    for _ in range(PROCESSES):
        nemesis.start()
    for _ in range(KILLS):
        time.sleep(chance.uniform(0.0, 0.6))
        nemesis.kill_one(chance)
        nemesis.start()
    while nemesis.running:
        nemesis.kill_one(chance)
    report(nemesis.logs(), url, time.monotonic() - began)


def report(events: list[list[str]], url: str, seconds: float) -> None:
    """Hold what the processes noted against what the file says."""
    acknowledged = {event[1] for event in events if event[0] == "put"}
    starts = Counter((event[1], event[2]) for event in events if event[0] == "start")
    done = Counter(event[1] for event in events if event[0] == "done")
    engine = open_engine(url)
    dump, findings = engine.dump(), engine.check()
    engine.close()
    lost = acknowledged - dump.jobs.keys()
    twice = {start: count for start, count in starts.items() if count > 1}
    undone = {jid for jid in done if dump.jobs[jid].state != "complete"}
    print(
        f"\nseed {SEED}: {KILLS} kills of {PROCESSES} processes in {seconds:.0f} s; {len(acknowledged)} puts acknowledged,"
        f" {len(lost)} lost; {len(done)} completions acknowledged, {len(undone)} undone; attempts started twice: {len(twice)};"
        f" completed twice: {sum(count > 1 for count in done.values())}; fsck: {len(findings)} findings"
    )
    assert len(acknowledged) > KILLS
    assert not lost
    assert not twice
    assert not undone
    assert max(done.values(), default=0) <= 1
    assert findings == []
