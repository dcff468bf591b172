"""What the numbers were measured on."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
import time
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import psutil

NO_DISK = {"tmpfs", "ramfs"}
SYNCS = 200


class Machine(NamedTuple):
    """The machine, and the file system that the databases are on."""

    cpu: str
    cores: int
    python: str
    sqlite: str
    file_system: str
    sync_microseconds: float
    """Median time of an append of 4 KiB with fdatasync: what a durable commit costs at the least."""
    system: str
    versions: dict[str, str]

    def line(self) -> str:
        """All of it, for people."""
        packages = ", ".join(f"{package} {number}" for package, number in self.versions.items())
        return (
            f"{self.cpu}, {self.cores} cores; {self.system}; Python {self.python}, SQLite {self.sqlite}; {self.file_system},"
            f" a 4 KiB append with fdatasync takes {self.sync_microseconds:.0f} µs (median); {packages}"
        )


def look(folder: Path, packages: set[str]) -> Machine:
    """The machine, as seen from a folder. ValueError if the folder is not on a disk."""
    return Machine(
        cpu=cpu(),
        cores=len(os.sched_getaffinity(0)),
        python=platform.python_version(),
        sqlite=sqlite3.sqlite_version,
        file_system=_file_system(folder),
        sync_microseconds=_sync_microseconds(folder),
        system=f"Linux {platform.release()}",
        versions={package: version(package) for package in sorted(packages)},
    )


def cpu() -> str:
    """What the processor calls itself."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _file_system(folder: Path) -> str:
    mounts = {Path(one.mountpoint): one.fstype for one in psutil.disk_partitions(all=True)}
    kind = next((mounts[parent] for parent in (folder.resolve(), *folder.resolve().parents) if parent in mounts), "unknown")
    if kind in NO_DISK:
        raise ValueError(f"{folder} is on {kind}, which is memory: name a folder on a disk with --folder")
    return kind


def _sync_microseconds(folder: Path) -> float:
    path = folder / "sync"
    times = []
    with path.open("wb", buffering=0) as file:
        for _ in range(SYNCS):
            began = time.perf_counter()
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - began)
    path.unlink()
    return statistics.median(times) * 1e6
