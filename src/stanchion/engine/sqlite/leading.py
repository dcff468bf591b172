"""Who runs the commands of a process: whoever comes first, for all that came meanwhile.

There is no writer thread. A caller that finds nobody leading leads: it waits for the process's turn, takes every request that has
come by then, lets the store run them as one transaction, hands out the replies, and makes the first of those that came meanwhile
the next leader. So one thread alone pays for no hand-over, and eight threads share each sync. Callers that await are led by a
thread kept for them.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager

from stanchion.engine.sqlite.requests import Request
from stanchion.errors import OutcomeUnknown, StanchionError, StoreBusy, StoreClosed

BATCH = 500
"""The most requests in one transaction, so that other processes get their turn."""

TIMEOUT = 30.0
"""Seconds that a request may wait to be run, unless its caller says otherwise."""

Turn = Callable[[float], AbstractContextManager[None]]


class Leadership:
    """The requests of one store, and who runs them.

    ``turn(timeout)`` holds the process's turn to write; ``run`` runs requests in it and sets the outcome of each. With
    ``gather_seconds`` a leader waits so long, at the most, for the callers of the last transaction to come back.
    """

    def __init__(self, path: str, turn: Turn, run: Callable[[list[Request]], None], gather_seconds: float) -> None:
        self._path = path
        self._turn = turn
        self._run = run
        self._gather_seconds = gather_seconds
        self._mutex = threading.Lock()
        self._pending: deque[Request] = deque()
        self._led = False
        self._closed = False
        self._last_batch = 1
        self._runner: threading.Thread | None = None
        self._awaited_wait = threading.Semaphore(0)

    def serve(self, request: Request, timeout: float | None) -> None:
        """Get the request run, by this thread or by another. Its outcome is in it then.

        Raises StoreBusy if it was not run in time, OutcomeUnknown if it is still being run after twice the time.
        """
        seconds = TIMEOUT if timeout is None else timeout
        if not self._enter(request) and not request.wait(seconds):
            self._give_up(request, seconds)
        if request.leads:
            self._lead(request, seconds)

    def serve_awaited(self, request: Request) -> None:
        """Get the request run by another thread; it tells its caller itself."""
        with self._mutex:
            if self._runner is None:
                self._runner = threading.Thread(target=self._run_awaited, name="stanchion-store", daemon=True)
                self._runner.start()
        if self._enter(request):
            self._awaited_wait.release()

    def discard(self, request: Request) -> bool:
        """Take back a request that has not started; True if it will not run."""
        with self._mutex:
            if request.started or request.leads or request not in self._pending:
                return False
            self._pending.remove(request)
            return True

    def close(self) -> bool:
        """Take no more requests, and wait for those that came; False if it was closed before."""
        with self._mutex:
            if self._closed:
                return False
            self._closed = True
        while self._led:
            time.sleep(0.001)
        self._awaited_wait.release()
        return True

    def abandon(self) -> None:
        """In a forked child: take no more requests, and touch nothing that another thread of the parent may hold."""
        self._closed = True

    def _enter(self, request: Request) -> bool:
        """Queue the request; True if nobody leads, so that its caller, or the thread for those that await, must."""
        if self._closed:
            raise StoreClosed(path=self._path)
        with self._mutex:
            self._pending.append(request)
            leads, self._led = not self._led, True
            request.leads = leads and not request.awaited
            return leads

    def _give_up(self, request: Request, seconds: float) -> None:
        if self.discard(request):
            raise StoreBusy(path=self._path, seconds=seconds, holder="")
        # It runs now, or was just made the leader: the outcome is usually a moment away.
        if not request.leads and not request.wait(seconds):
            raise OutcomeUnknown(command="the command", problem=f"no answer within {2 * seconds:.1f} s")

    def _run_awaited(self) -> None:
        while True:
            self._awaited_wait.acquire()
            if self._closed and not self._pending:
                return
            self._lead(None, TIMEOUT)

    def _lead(self, own: Request | None, timeout: float) -> None:
        batch: list[Request] = []
        try:
            self._gather()
            with self._turn(timeout):
                batch = self._take(own)
                self._run(batch)
        except StanchionError as error:
            batch = batch or self._take_failed(own)
            _fail(batch, error)
        except BaseException as error:
            # Whatever it was, nobody may believe that a request of this batch stands.
            _fail(batch, OutcomeUnknown(command="the command", problem=f"{type(error).__name__} while it was run"))
            raise
        finally:
            for request in batch:
                request.finish()
            self._hand_over()

    def _gather(self) -> None:
        if self._last_batch < 2:
            return
        until = time.monotonic() + self._gather_seconds
        while len(self._pending) < self._last_batch and time.monotonic() < until:
            time.sleep(self._gather_seconds / 10)

    def _take(self, own: Request | None) -> list[Request]:
        """The requests to run now: those that came first, and the leader's own in any case."""
        with self._mutex:
            batch = [self._pending.popleft() for _ in range(min(BATCH, len(self._pending)))]
            if own is not None and own not in batch:
                self._pending.remove(own)
                batch.append(own)
            for request in batch:
                request.started = True
            self._last_batch = len(batch)
            return batch

    def _take_failed(self, own: Request | None) -> list[Request]:
        """The requests that fail with the leader: its own, or all of those that await."""
        with self._mutex:
            failed = [request for request in self._pending if request is own or (own is None and request.awaited)]
            for request in failed:
                self._pending.remove(request)
            return failed

    def _hand_over(self) -> None:
        with self._mutex:
            heir = next((request for request in self._pending if not request.awaited), None)
            if heir is not None:
                heir.leads = True
            self._led = bool(self._pending)
            awaited = self._led and heir is None
        if heir is not None:
            heir.wake()
        elif awaited:
            self._awaited_wait.release()


def _fail(batch: list[Request], error: StanchionError) -> None:
    for request in batch:
        request.reply, request.error = None, request.error or error
