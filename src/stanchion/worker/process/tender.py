"""A thread of the worker for each child: it tells the child what to run, hears what comes of it, and of the child's death."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from stanchion.worker.active import ActiveJob
from stanchion.worker.lease import Lease
from stanchion.worker.outcome import Outcome, Settled
from stanchion.worker.process import linux, wire
from stanchion.worker.process.child import STACKS
from stanchion.worker.process.nursery import CannotStart, Child, Nursery
from stanchion.worker.process.obituary import OUTPUT_CHARACTERS, cause_of, outcome_of_death
from stanchion.worker.process.patience import GRACE, Kill, Patience, Reason, Tell

log = logging.getLogger("stanchion.worker")

RETRY_SECONDS = 1.0
"""The pause after a child could not be started, or died before it had anything to run."""

SEND_SECONDS = 30.0
"""How long a child may take to read what it is told."""

MILLISECONDS = 1000.0


class Work(NamedTuple):
    """A job to run, and whom to tell what came of it."""

    job: ActiveJob
    timeout: float | None
    report: Callable[[Lease, Outcome], None]


class Recycling(NamedTuple):
    """When a child makes room for a fresh one: after so many jobs, or once it takes so many bytes of memory."""

    jobs: float = 1000
    memory: float = math.inf


class Giver(Protocol):
    """Who has work for tenders."""

    @property
    def closed(self) -> bool: ...

    def take(self, tender: Tender) -> Work | None:
        """Work for the tender, if there is any; else it is woken when there is."""

    def gone(self, tender: Tender) -> None:
        """The tender ends."""


class Tender:
    """Looks after one child at a time, for as long as there is use for one."""

    def __init__(self, giver: Giver, nursery: Nursery, recycling: Recycling) -> None:
        self._giver = giver
        self._nursery = nursery
        self._recycling = recycling
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._waking = threading.Lock()
        self._ended = False
        self._sitting: _Sitting | None = None
        self.assigned: Work | None = None
        """What the giver has for it; the giver alone sets and takes it, under its lock."""
        self.retired = False
        self._thread = threading.Thread(target=self._run, name="stanchion-tender", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Let it look at what has changed."""
        with self._waking:
            if not self._ended:
                os.eventfd_write(self._wake, 1)

    def dump(self) -> None:
        """Let the child write the stacks of its threads."""
        sitting = self._sitting
        if sitting is not None:
            sitting.signal(STACKS)

    def join(self, seconds: float) -> None:
        """Wait until it has ended."""
        self._thread.join(seconds)

    def _run(self) -> None:
        while not (self._giver.closed or self.retired):
            try:
                child = self._nursery.child()
            except (CannotStart, OSError) as error:
                log.warning("no process for jobs can be started, trying again: %s", error)
                self._pause()
                continue
            self._sitting = _Sitting(self, self._giver, child, self._recycling)
            fit = self._sitting.run()
            self._sitting = None
            child.close()
            if not fit:
                self._pause()
        self._giver.gone(self)
        with self._waking:
            self._ended = True
            os.close(self._wake)

    def _pause(self) -> None:
        until = time.monotonic() + RETRY_SECONDS
        while (left := until - time.monotonic()) > 0 and not self._giver.closed:
            select.select([self._wake], [], [], left)
            self.heard()

    def heard(self) -> None:
        """What it was woken for is looked at."""
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self._wake)

    def fileno(self) -> int:
        """What can be read once it is woken."""
        return self._wake


class _Sitting:
    """With one child, from its start to its death."""

    def __init__(self, tender: Tender, giver: Giver, child: Child, recycling: Recycling) -> None:
        self._tender = tender
        self._giver = giver
        self._child = child
        self._recycling = recycling
        self._poll = select.poll()
        for file in (child.channel.stream.fileno(), child.output, child.obituary, tender.fileno()):
            self._poll.register(file, select.POLLIN)
        child.channel.stream.settimeout(SEND_SECONDS)
        self._pidfd: int | None = None
        self._work: Work | None = None
        self._patience: Patience | None = None
        self._killed: Reason | None = None
        self._output = bytearray()
        self._jobs = 0
        self._memory = 0
        self._dismissed = False
        self._oom_kills = linux.oom_kills()

    def run(self) -> bool:
        """Until the child is dead. False if it was of no use, so that the next is not started at once."""
        while True:
            ready = {file for file, _ in self._poll.poll(self._patient())}
            if self._child.output in ready:
                self._hear_output()
            if self._child.channel.stream.fileno() in ready:
                self._hear()
            if self._child.obituary in ready:
                return self._bury()
            if self._tender.fileno() in ready:
                self._tender.heard()
            if self._work is None and self._pidfd is not None and not self._dismissed:
                self._next()

    def signal(self, number: int) -> None:
        """Send the child a signal, if it lives."""
        if self._pidfd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, number)

    def _patient(self) -> float | None:
        """Do what patience says; milliseconds until it is to be asked again."""
        while self._patience is not None:
            now = time.monotonic()
            match self._patience.step(now):
                case Tell(reason):
                    self._tell(reason)
                case Kill(reason):
                    self._killed, self._patience = reason, None
                    self.signal(signal.SIGKILL)
                case leave:
                    return None if leave.until == math.inf else max(0.0, leave.until - now) * MILLISECONDS + 1
        return None

    def _tell(self, reason: Reason) -> None:
        assert self._work is not None
        lease = self._work.job.lease
        if reason == "late":
            lease.late = True
            self.signal(STACKS)  # before the job is broken into: where it hung is what one wants to know
        self._send(wire.Interrupt(lease.lost))

    def _next(self) -> None:
        if self._giver.closed or self._tender.retired or self._is_worn():
            self._dismissed = True
            with contextlib.suppress(OSError):
                self._child.channel.stream.shutdown(2)
            return
        work = self._giver.take(self._tender)
        if work is None:
            return
        lease = work.job.lease
        if lease.lost is not None:
            work.report(lease, Settled())
            self._tender.wake()
            return
        if work.timeout is not None:
            lease.deadline = time.monotonic() + work.timeout
        self._output.clear()
        self._work, self._patience, self._jobs = work, Patience(lease, GRACE), self._jobs + 1
        self._send(wire.Run(lease.job))

    def _is_worn(self) -> bool:
        return self._jobs >= self._recycling.jobs or self._memory > self._recycling.memory

    def _send(self, message: wire.Message) -> None:
        try:
            self._child.channel.send(message)
        except OSError:  # it is dying, or too ill to read: its death says the rest
            self.signal(signal.SIGKILL)

    def _hear(self) -> None:
        messages = self._child.channel.receive(wait=False)
        if messages is None:
            self._poll.unregister(self._child.channel.stream.fileno())
            self.signal(signal.SIGKILL)
            return
        for message in messages:
            match message:
                case wire.Ready(pid):
                    with contextlib.suppress(ProcessLookupError):
                        self._pidfd = os.pidfd_open(pid)
                case wire.Call():
                    self._send(self._answer(message))
                case wire.Done():
                    self._memory = message.memory
                    self._report(wire.outcome_of(message))

    def _answer(self, message: wire.Call) -> wire.Answer:
        try:
            assert self._work is not None
            reply = self._work.job.perform(wire.command_of(message), message.now)
        except Exception as error:  # noqa: BLE001 - whatever it is, the code that called is told
            return wire.refusal(message.number, error)
        return wire.Answer(message.number, reply)

    def _report(self, outcome: Outcome) -> None:
        work, self._work, self._patience = self._work, None, None
        if work is not None:
            work.report(work.job.lease, outcome)

    def _hear_output(self) -> None:
        """Keep the end of what the child writes, and write it where the worker writes."""
        try:
            data = os.read(self._child.output, wire.CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._poll.unregister(self._child.output)
            return
        self._output += data
        del self._output[: -4 * OUTPUT_CHARACTERS]
        with contextlib.suppress(OSError):
            os.write(2, data)

    def _bury(self) -> bool:
        """The child is dead: what it had still said counts, and what it left undone failed with it."""
        while (messages := self._child.channel.receive(wait=False)) is not None and messages:
            for message in messages:
                if isinstance(message, wire.Done):
                    self._report(wire.outcome_of(message))
        self._drain_output()
        death = self._child.death()
        pidfd, self._pidfd = self._pidfd, None
        if pidfd is not None:
            os.close(pidfd)
        work, output = self._work, self._output.decode(errors="replace")
        oom = linux.oom_kills() > self._oom_kills
        if work is not None:
            log.warning("the process of job %s died: %s", work.job.jid, cause_of(death, out_of_memory=oom))
            self._report(outcome_of_death(death, self._killed, work.timeout, output, out_of_memory=oom))
        elif not self._dismissed:
            log.warning("a process for jobs died with nothing to run: %s", cause_of(death, out_of_memory=oom))
        return work is not None or self._dismissed

    def _drain_output(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self._child.output, wire.CHUNK):
                self._output += data
                with contextlib.suppress(OSError):
                    os.write(2, data)
        del self._output[: -4 * OUTPUT_CHARACTERS]
