"""Breaking into code on another thread by an exception, as far as the interpreter can."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

from stanchion.worker.active import LeaseLost

R = TypeVar("R")

_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
_raise_in.argtypes = (ctypes.c_ulong, ctypes.py_object)
_NOTHING: ctypes.py_object[type[BaseException]] = ctypes.py_object()  # a null pointer, which takes back what was sent


class Interruptible:
    """One run of some code, which never raises by itself, into which another thread can break once.

    LeaseLost is raised where the code next runs Python: code that sleeps or is in C learns of it when that returns. Nothing
    is raised outside of the code, however late the interruption.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._over = False

    def run(self, code: Callable[[], R], broken: Callable[[BaseException], R]) -> R:
        """What the code gives; what ``broken`` makes of the interruption if it came as the code began or ended."""
        result: R | None = None
        try:
            with self._lock:
                self._thread = threading.get_ident()
            result = code()
            self._end()
        except BaseException as error:  # noqa: BLE001 - code that never raises was broken into as it began or ended
            # It is broken into once, so that nothing can come here any more.
            result = broken(error) if result is None else result
            self._end()
        return result

    def interrupt(self) -> None:
        """Break into the code, if it runs."""
        with self._lock:
            if self._thread is not None and not self._over:
                self._over = True
                _raise_in(self._thread, ctypes.py_object(LeaseLost))

    def _end(self) -> None:
        with self._lock:
            if self._thread is not None and self._over:
                # What was sent and has not arrived is taken back: this thread goes on to other work.
                _raise_in(self._thread, _NOTHING)
            self._thread = None
