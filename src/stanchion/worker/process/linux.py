"""What only Linux can do for a tree of processes."""

from __future__ import annotations

import ctypes
import os
import signal
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

_libc = ctypes.CDLL(None, use_errno=True)
_CGROUPS = Path("/sys/fs/cgroup")


def die_with_parent(parent: int) -> None:
    """Let this process be killed when its parent ends; at once if that has happened already."""
    _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def adopt_orphans() -> None:
    """Let descendants whose parents end become children of this process, instead of the machine's first one."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    """The processes that this one started or adopted; none where the kernel does not tell."""
    found: set[int] = set()
    with suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            with suppress(OSError):
                found.update(map(int, Path(f"/proc/self/task/{thread}/children").read_text().split()))
    return found


def threads() -> int:
    """How many threads this process has, those of C code among them."""
    return len(os.listdir("/proc/self/task"))


def memory() -> int:
    """The memory that this process takes now, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to a child of this process that it has not reaped."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def kill_group(pid: int) -> None:
    """Kill a group of processes, if any of it is left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def kill_strays(known: set[int]) -> None:
    """Kill and reap the children of this process that it does not know, and what they leave behind when they end."""
    while strays := children() - known:
        for pid in strays:
            kill(pid)
        for pid in strays:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def oom_kills() -> int:
    """How often the kernel has killed something of this process's control group, or else of the machine, to get memory."""
    for file in (*_memory_files(), Path("/proc/vmstat")):
        with suppress(OSError):
            for line in file.read_text().splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
    return 0


def _memory_files() -> list[Path]:
    groups = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    second = [_CGROUPS / path.lstrip("/") / "memory.events" for _, kinds, path in groups if not kinds]
    first = [_CGROUPS / "memory" / path.lstrip("/") / "memory.oom_control" for _, kinds, path in groups if kinds == "memory"]
    return [*first, *second]
