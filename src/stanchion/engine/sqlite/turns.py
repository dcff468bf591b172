"""Turns between processes: who writes next.

SQLite's own lock goes to whoever polls it first, so a busy writer starves the others. Here a writer first takes the *next*
lock, then waits for the *turn*; whoever just wrote must take *next* again and cannot get past the one that holds it.
Both are POSIX record locks of a file beside the database: the kernel frees them when a process dies, and names the holder.
They belong to the process, so there is one ``Turns`` per file and process, and nobody else may open that file.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager

from stanchion.errors import StoreBusy

_TURN, _NEXT = 0, 1
_FLOCK = "hhqqi4x"  # l_type, l_whence, l_start, l_len, l_pid: struct flock of Linux
_FIRST_PAUSE, _LONGEST_PAUSE = 0.00005, 0.001


class Turns:
    """The turns of one database file in this process."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = os.open(path + "-turn", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @contextmanager
    def turn(self, timeout: float) -> Iterator[None]:
        """Hold the turn; StoreBusy, naming the holder, when it does not come within ``timeout`` seconds."""
        deadline = time.monotonic() + timeout
        self._take(_NEXT, deadline, timeout)
        try:
            self._take(_TURN, deadline, timeout)
        finally:
            self._give(_NEXT)
        try:
            yield
        finally:
            self._give(_TURN)

    def close(self) -> None:
        os.close(self._descriptor)

    def _take(self, lock: int, deadline: float, timeout: float) -> None:
        pause = _FIRST_PAUSE
        while not self._try(lock):
            if time.monotonic() >= deadline:
                raise StoreBusy(path=self._path, seconds=timeout, holder=self._holder())
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    def _try(self, lock: int) -> bool:
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, lock)
        except OSError:
            return False
        return True

    def _give(self, lock: int) -> None:
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, lock)

    def _holder(self) -> str:
        question = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, _TURN, 1, 0)
        kind, *_, pid = struct.unpack(_FLOCK, fcntl.fcntl(self._descriptor, fcntl.F_GETLK, question))
        return f" (process {pid} is writing)" if kind != fcntl.F_UNLCK else ""
