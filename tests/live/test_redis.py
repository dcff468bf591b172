"""A replica takes over, again and again, while processes are at work through an address that leads to the present primary.

``make chaos`` runs it; STANCHION_FAILOVERS says how many times (10). With ``durability=replicas`` nothing that was acknowledged
may be lost by it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from stanchion import Client
from tests.live.test_server_kills import PROCESSES, Crew, recovery, report
from tests.redis.proxy import Proxy
from tests.servers import KEPT, Server, binaries

FAILOVERS = int(os.environ.get("STANCHION_FAILOVERS", "10"))
OPTIONS = (*KEPT, "--repl-diskless-sync-delay", "0")


def follow(replica: Server, primary: Server) -> None:
    """Make a server a replica of another, and wait until it has all."""
    with replica.client() as client:
        client.execute_command("REPLICAOF", "127.0.0.1", primary.port)
    replica.until(lambda client: client.info("replication")["master_link_status"] == "up")


@pytest.mark.live
@pytest.mark.parametrize("kind", sorted(binaries()))
def test_a_replica_takes_over(kind: str, tmp_path: Path) -> None:
    recoveries: list[float] = []
    with Server(kind, *OPTIONS) as one, Server(kind, *OPTIONS) as other, Proxy(one.port) as proxy:
        primary, replica = one, other
        follow(replica, primary)
        with Client(primary.url) as client:
            client.config.set("jobs-history", 10**9)
            client.config.set("jobs-history-count", 10**9)
        crew = Crew(f"redis://127.0.0.1:{proxy.port}?timeout=20&durability=replicas&replicas=1", tmp_path)
        for _ in range(PROCESSES):
            crew.start()
        began = time.monotonic()
        recovery(crew, began)
        for _ in range(FAILOVERS):
            time.sleep(0.3)  # of work
            primary.kill()
            with replica.client() as admin:
                admin.execute_command("REPLICAOF", "NO", "ONE")
            proxy.turn_to(replica.port)
            turned = time.monotonic()
            primary.start()
            follow(primary, replica)
            primary, replica = replica, primary
            recoveries.append(recovery(crew, turned))
        while crew.running:
            crew.kill(crew.running[-1])
        report(kind, crew, primary.url, recoveries, time.monotonic() - began)
