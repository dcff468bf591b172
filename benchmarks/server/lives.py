"""What the lives of jobs cost a server: microseconds and inner calls, by its own count, and bytes while they wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.server.queues import Queue

OUTER = ("cmdstat_fcall", "cmdstat_fcall_ro", "cmdstat_evalsha")
OWN = ("cmdstat_config|resetstat", "cmdstat_info", "cmdstat_script|exists", "cmdstat_script|load")


class Cost(NamedTuple):
    """For each job: the server's microseconds, and how many commands functions ran inside."""

    microseconds: float
    calls: float


STEPS = ("put", "pop", "complete")


def life(server: Any, queue: Queue, jobs: int, batch: int) -> dict[str, Cost]:
    """Let so many jobs live, so many in one call; the cost of each step."""
    held: list[Any] = []
    costs = {"put": _measure(server, jobs, lambda: _repeat(jobs // batch, lambda: queue.put(batch)))}
    costs["pop"] = _measure(server, jobs, lambda: _repeat(jobs // batch, lambda: held.append(queue.pop(batch))))
    costs["complete"] = _measure(server, jobs, lambda: [queue.complete(part) for part in held])
    if sum(map(len, held)) != jobs:
        raise RuntimeError(f"{queue.name}: {jobs} jobs were put, {sum(map(len, held))} popped")
    return costs


def bytes_of_waiting(server: Any, queue: Queue, jobs: int) -> float:
    """The server's memory for each job that waits."""
    server.flushall()
    before = server.info("memory")["used_memory"]
    _repeat(jobs // 100, lambda: queue.put(100))
    return float(server.info("memory")["used_memory"] - before) / jobs


def _repeat(times: int, work: Callable[[], object]) -> None:
    for _ in range(times):
        work()


def _measure(server: Any, jobs: int, work: Callable[[], object]) -> Cost:
    server.config_resetstat()
    work()
    stats = {name: (one["calls"], one["usec"]) for name, one in server.info("commandstats").items()}
    inner = sum(calls for name, (calls, _) in stats.items() if name not in (*OUTER, *OWN))
    return Cost(sum(stats[name][1] for name in OUTER if name in stats) / jobs, inner / jobs)
