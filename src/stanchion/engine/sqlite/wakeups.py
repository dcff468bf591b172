"""Waking sleepers, in this process at once and in others through a file that the kernel watches.

A committer writes a byte to ``<database>-wake``; every process that has sleepers watches that file with inotify, so nothing
polls. Where there is no inotify, a sleeper looks at the file's time each POLL seconds. A wake-up is only a hint: whoever
sleeps looked for work after taking a ticket, and every sleep is bounded.
"""

from __future__ import annotations

import ctypes
import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

POLL = 0.02
_IN_MODIFY, _IN_CLOEXEC = 0x2, 0o2000000


class Bell:
    """Counts the times it was rung, and lets threads sleep until it is rung again."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._rung = 0
        self._heard: list[Callable[[], None]] = []

    @property
    def rung(self) -> int:
        return self._rung

    def ring(self) -> None:
        with self._condition:
            self._rung += 1
            self._condition.notify_all()
            heard = tuple(self._heard)
        for tell in heard:
            tell()

    @contextmanager
    def heard(self, tell: Callable[[], None]) -> Iterator[None]:
        """Have ``tell`` called, from whatever thread rings, whenever it is rung."""
        with self._condition:
            self._heard.append(tell)
        try:
            yield
        finally:
            with self._condition:
                self._heard.remove(tell)

    def sleep(self, since: int, timeout: float) -> bool:
        """Sleep until it was rung more often than ``since``; False after ``timeout`` seconds without."""
        with self._condition:
            return self._condition.wait_for(lambda: self._rung > since, timeout)


class WakeFile:
    """The file beside the database that carries wake-ups between processes."""

    def __init__(self, path: str, woken: Callable[[], None]) -> None:
        self._path = path + "-wake"
        self._woken = woken
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._watcher: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    def touch(self) -> None:
        """Wake every process that watches."""
        os.pwrite(self._descriptor, b"!", 0)

    def watch(self) -> None:
        """Start watching, if this process does not yet."""
        with self._lock:
            if self._watcher is None:
                watch = self._poll if (inotify := _inotify(self._path)) is None else lambda: self._read(inotify)
                self._watcher = threading.Thread(target=watch, name="stanchion-wake", daemon=True)
                self._watcher.start()

    def close(self) -> None:
        """Stop watching; the watcher ends at its next wake-up, which this gives it."""
        self._closed = True
        self.touch()
        if self._watcher is not None:
            self._watcher.join()
        os.close(self._descriptor)

    def _read(self, inotify: int) -> None:
        try:
            while not self._closed:
                os.read(inotify, 4096)
                self._woken()
        finally:
            os.close(inotify)

    def _poll(self) -> None:
        before = os.fstat(self._descriptor).st_mtime_ns
        while not self._closed:
            time.sleep(POLL)
            changed = os.fstat(self._descriptor).st_mtime_ns
            if changed != before:
                before = changed
                self._woken()


def _inotify(path: str) -> int | None:
    """A descriptor that becomes readable when the file is written; None where the system has none to give."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "inotify_init1"):
        return None
    descriptor = int(libc.inotify_init1(_IN_CLOEXEC))
    if descriptor < 0:
        return None
    if libc.inotify_add_watch(descriptor, os.fsencode(path), _IN_MODIFY) < 0:
        os.close(descriptor)
        if ctypes.get_errno() in (errno.ENOSPC, errno.ENOMEM):  # no watches left: poll instead
            return None
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
    return descriptor
