"""Why a child died, as it is told in its job's history. No I/O."""

from __future__ import annotations

import os
import signal

from stanchion.worker.outcome import Crashed, Outcome, Raised, Settled
from stanchion.worker.process.patience import Reason
from stanchion.worker.process.wire import Death

OUTPUT_CHARACTERS = 16_000
"""How much of what the child wrote last is told; a fault's stack is at its end."""


def cause_of(death: Death | None, *, out_of_memory: bool) -> str:
    """A short word for a death: ``SIGSEGV``, ``exit 3``, ``oom``; ``unknown`` if the server died with it."""
    if death is None:
        return "unknown"
    if os.WIFSIGNALED(death.status):
        number = os.WTERMSIG(death.status)
        return "oom" if out_of_memory and number == signal.SIGKILL else _name(number)
    return f"exit {os.WEXITSTATUS(death.status)}"


def outcome_of_death(
    death: Death | None, killed: Reason | None, timeout: float | None, output: str, *, out_of_memory: bool
) -> Outcome:
    """What a child's death means for its job; ``killed``: why the worker killed it, if it did."""
    tail = output[-OUTPUT_CHARACTERS:]
    if killed == "lost":
        return Settled()
    if killed == "late":
        story = f"The job took longer than its timeout of {timeout} s, did not end when it was told, and was killed"
        return Raised("TimeoutError", f"{story}\n{tail}".strip())
    peak = 0 if death is None else death.peak
    return Crashed(cause_of(death, out_of_memory=out_of_memory), peak, tail)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
