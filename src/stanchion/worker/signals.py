"""What signals mean to a worker.

TERM and INT: stop, finish what runs in the time for it; a second one hands it back at once, a third ends the process.
QUIT: hand everything back at once. TSTP and USR1: take no more jobs. USR2: write all stacks. TTIN and TTOU: one job more, or
one fewer, at once.
"""

from __future__ import annotations

import faulthandler
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

STOPS_TO_EXIT = 3


class Told(Protocol):
    """Who is told: each of these may be called in a signal handler."""

    def stop(self) -> None: ...
    def quiet(self) -> None: ...
    def scale(self, by: int) -> None: ...
    def dump_stacks(self) -> None: ...


@contextmanager
def handled_by(worker: Told) -> Iterator[None]:
    """Let a worker handle this process's signals. For the main thread."""
    handlers = _handlers(worker)
    before = {number: signal.signal(number, _calling(handle, number)) for number, handle in handlers.items()}
    dumps = _dump_even_if_stuck()
    try:
        yield
    finally:
        if dumps:
            faulthandler.unregister(signal.SIGUSR2)
        for number, handler in before.items():
            signal.signal(number, handler)


def _handlers(worker: Told) -> dict[signal.Signals, Callable[[int], None]]:
    stops = 0

    def stop(number: int) -> None:
        nonlocal stops
        stops += 1
        if stops >= STOPS_TO_EXIT:
            os._exit(128 + number)  # its jobs' locks lapse; its children end with it
        worker.stop()

    def leave(number: int) -> None:
        worker.stop()
        worker.stop()

    return {
        signal.SIGTERM: stop,
        signal.SIGINT: stop,
        signal.SIGQUIT: leave,
        signal.SIGTSTP: lambda number: worker.quiet(),
        signal.SIGUSR1: lambda number: worker.quiet(),
        signal.SIGUSR2: lambda number: worker.dump_stacks(),
        signal.SIGTTIN: lambda number: worker.scale(1),
        signal.SIGTTOU: lambda number: worker.scale(-1),
    }


def _calling(handle: Callable[[int], None], number: int) -> Callable[[int, FrameType | None], None]:
    return lambda *_: handle(number)


def _dump_even_if_stuck() -> bool:
    """Write this process's own stacks from the signal itself, whatever holds the interpreter; then Python's handler runs."""
    try:
        faulthandler.register(signal.SIGUSR2, file=sys.__stderr__ or sys.stderr, all_threads=True, chain=True)
    except (io.UnsupportedOperation, RuntimeError, AttributeError):  # there is no real file to write to
        return False
    return True
