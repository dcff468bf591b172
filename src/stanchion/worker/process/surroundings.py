"""What a job's code can change in its process, put back before the next one."""

from __future__ import annotations

import locale
import os
import signal
from contextlib import suppress

from stanchion.worker.process import linux

_SIGNALS = sorted(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})


class Surroundings:
    """The folder, umask, signals, timers, locale, environment and children of this process as they are now."""

    def __init__(self) -> None:
        self._folder = os.getcwd()
        self._umask = os.umask(0o022)
        os.umask(self._umask)
        self._signals = {number: signal.getsignal(number) for number in _SIGNALS}
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self._locale = locale.setlocale(locale.LC_ALL)
        self._environment = dict(os.environ)
        self._children = linux.children()

    def restore(self) -> None:
        """Put all of it back, and kill the processes that were left running."""
        linux.kill_strays(self._children)
        for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
            signal.setitimer(timer, 0)
        self._restore_signals()
        os.umask(self._umask)
        os.chdir(self._folder)
        if locale.setlocale(locale.LC_ALL) != self._locale:
            locale.setlocale(locale.LC_ALL, self._locale)
        if dict(os.environ) != self._environment:
            os.environ.clear()
            os.environ.update(self._environment)

    def _restore_signals(self) -> None:
        for number, handler in self._signals.items():
            if handler is not None and signal.getsignal(number) is not handler:
                with suppress(OSError, ValueError):
                    signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
