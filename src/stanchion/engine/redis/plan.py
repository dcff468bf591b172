"""What is said to a server, and what follows from its answers: generators that yield what to do and are sent what came of it.

So a caller who blocks and one who awaits run the same: see ``wire``. A call is repeated, with its token, until it is answered or
the time is over; the library is loaded where a server lacks it; the primary is found again where it has moved.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from stanchion.engine.contract import Outcome
from stanchion.engine.redis import library, startup
from stanchion.engine.redis.faults import Fault, Reaction, address_in, fault_of
from stanchion.engine.redis.url import Location
from stanchion.errors import NewerLibrary, OutcomeUnknown, StanchionError, StoreForbids, StoreUnavailable

R = TypeVar("R")

Command = tuple[str | bytes | float, ...]

FIRST_PAUSE, LONGEST_PAUSE = 0.01, 1.0
"""Seconds between repeats: doubled each time, and drawn between half and all of it, so that many clients do not come at once."""

CHECK_POLICY_EVERY = 60.0
"""Seconds: an operator can change what the server does when memory is short, at any time."""

_log = logging.getLogger("stanchion.redis")


class Send(NamedTuple):
    """Send commands in one go; the answer is their replies (errors among them), or Lost."""

    commands: Sequence[Command]
    patience: float
    """Seconds for each reply."""


class Rest(NamedTuple):
    """Do nothing for some seconds."""

    seconds: float


class Turn(NamedTuple):
    """Talk to this server from now on; without one, find out who is the primary now."""

    address: tuple[str, int] | None


class Lost(NamedTuple):
    """There was no answer: the connection was lost, or could not be made. What was ``sent`` may have been done."""

    sent: bool
    problem: str


Act = Send | Rest | Turn
Talk = Generator[Act, Any, R]


class Request(NamedTuple):
    """A call as it is sent, the name of its command, and whether it changes anything."""

    command: Command
    name: str
    writes: bool


@dataclass
class Session:
    """What a client knows of its server: that it may be used, and has the library."""

    location: Location
    ready: bool = False
    checked: float = field(default=float("-inf"))
    version: int = 0
    """Of the library that the server has."""

    def forget(self) -> None:
        """The server may be another one now."""
        self.ready = False


def perform(session: Session, requests: Sequence[Request], limit: float) -> Talk[list[Outcome]]:
    """Have requests answered, in one go as far as it can be, within so many seconds. Each has its own outcome."""
    round_ = _Round(session, requests, time.monotonic() + limit)
    pause = FIRST_PAUSE
    while round_.todo:
        yield from round_.attempt()
        if not round_.todo:
            break
        if time.monotonic() + pause >= round_.deadline:
            round_.give_up()
            break
        yield Rest(pause * random.uniform(0.5, 1))
        pause = min(2 * pause, LONGEST_PAUSE)
    return round_.outcomes


class _Round:
    """Requests on their way: what came of each so far."""

    def __init__(self, session: Session, requests: Sequence[Request], deadline: float) -> None:
        self.session = session
        self.requests = requests
        self.deadline = deadline
        self.outcomes: list[Outcome] = [Outcome()] * len(requests)
        self.todo = list(range(len(requests)))
        self._sent: set[int] = set()
        self._last: StanchionError | None = None
        self._lacked = False
        """The last answer was that the library lacks a function."""

    def attempt(self) -> Talk[None]:
        """Send what is left to do, and sort the answers."""
        try:
            yield from prepare(self.session, self._patience())
        except _NotNow as trouble:
            yield from self._react(trouble.fault)
            return
        commands = [self.requests[index].command for index in self.todo]
        replicas = self.session.location.replicas if any(self.requests[index].writes for index in self.todo) else 0
        if replicas:
            commands.append(("WAIT", replicas, int(800 * self._patience())))  # so that it answers in time
        answer = yield Send(commands, self._patience())
        if isinstance(answer, Lost):
            if answer.sent:
                self._sent.update(self.todo)
            yield from self._lost(answer.problem)
            return
        reached = int(answer.pop()) if replicas and isinstance(answer[-1], int) else 0
        yield from self._sort(answer, shortfall=reached < replicas)

    def give_up(self) -> None:
        """The time is over: what was sent may have happened."""
        for index in self.todo:
            self._refuse(index, self._last)

    def _refuse(self, index: int, error: StanchionError | None, *, by_library: bool = False) -> None:
        """Not done, unless an earlier try was: a server that refuses a repeat has not looked at its token, the library has."""
        request = self.requests[index]
        if index in self._sent and request.writes and not by_library:
            details = error.details if error else {}
            error = OutcomeUnknown(command=request.name, problem=details.get("problem", str(error)))
        self.outcomes[index] = Outcome(error=error)

    def _patience(self) -> float:
        return max(0.05, self.deadline - time.monotonic())

    def _sort(self, answers: list[Any], shortfall: bool) -> Talk[None]:
        left, fault = [], None
        for index, answer in zip(self.todo, answers, strict=False):
            request = self.requests[index]
            if not isinstance(answer, Exception):
                self.outcomes[index] = self._done(request, answer, shortfall)
                continue
            found = fault_of(answer, self.session.location.shown, request.name)
            if found.reaction is Reaction.LOAD and self._lacked and self.session.version > library.VERSION:
                self._refuse(index, self._newer(request))
            elif found.reaction is Reaction.REFUSE:
                self._refuse(index, found.error, by_library=found.by_library)
            else:
                left.append(index)
                fault = fault or found
        self.todo = left
        if fault:
            yield from self._react(fault)

    def _newer(self, request: Request) -> NewerLibrary:
        """The server was asked again which library it has: a newer one, without this function."""
        known, found = library.VERSION, self.session.version
        return NewerLibrary(url=self.session.location.shown, found=found, known=known, function=str(request.command[1]))

    def _done(self, request: Request, answer: Any, shortfall: bool) -> Outcome:
        if request.writes and shortfall:
            problem = f"fewer than {self.session.location.replicas} replicas have it"
            return Outcome(error=OutcomeUnknown(command=request.name, problem=problem))
        return Outcome(reply=answer)

    def _lost(self, problem: str) -> Talk[None]:
        self._last = StoreUnavailable(path=self.session.location.shown, problem=problem.rstrip("."))
        self.session.forget()
        if self.session.location.kind != "one":
            yield Turn(None)

    def _react(self, fault: Fault) -> Talk[None]:
        self._last = fault.error
        self._lacked = fault.reaction is Reaction.LOAD
        if fault.reaction is Reaction.REFUSE:
            for index in self.todo:
                self._refuse(index, fault.error)
            self.todo = []
        elif fault.reaction is Reaction.MOVE:
            yield Turn(address_in(fault.detail))
        elif fault.reaction is Reaction.SEEK:
            yield Turn(None)
        self.session.forget()


class _NotNow(Exception):
    """The server cannot be prepared at this moment, or never."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault.error))
        self.fault = fault


def prepare(session: Session, patience: float) -> Talk[None]:
    """Make sure that the server can keep jobs, and has the library; once, and its policy again now and then."""
    if not session.ready:
        answers = yield from _ask(session, startup.QUESTIONS, patience)
        facts = startup.facts_of(answers)
        _refuse(startup.refusal(facts, session.location))
        for concern in startup.concerns(facts) if session.checked < 0 else ():
            level = logging.INFO if concern.usual else logging.WARNING
            _log.log(level, "%s: %s; %s", session.location.shown, concern.message, concern.remedy)
        yield from _ensure_library(session, patience)
        yield from _refuse_without_permissions(session, patience)
        session.ready, session.checked = True, time.monotonic()
    elif time.monotonic() - session.checked > CHECK_POLICY_EVERY:
        (answer,) = yield from _ask(session, (startup.POLICY_QUESTION,), patience)
        _refuse(startup.refusal(startup.Facts("redis", "99.0", startup.setting(answer)), session.location))
        session.checked = time.monotonic()


def _refuse(error: StanchionError | None) -> None:
    if error is not None:
        raise _NotNow(Fault(Reaction.REFUSE, error))


def _ask(session: Session, questions: Sequence[Command], patience: float) -> Talk[list[Any]]:
    answers = yield Send(questions, patience)
    if isinstance(answers, Lost):
        session.forget()
        if session.location.kind != "one":
            yield Turn(None)
        error = StoreUnavailable(path=session.location.shown, problem=answers.problem.rstrip("."))
        raise _NotNow(Fault(Reaction.REPEAT, error))
    for answer in answers:
        if isinstance(answer, Exception):
            fault = fault_of(answer, session.location.shown, "connect")
            if fault.reaction is not Reaction.REFUSE or str(fault.detail).startswith(("NOAUTH", "WRONGPASS")):
                raise _NotNow(fault)
    if all(isinstance(answer, Exception) for answer in answers):
        raise _NotNow(fault_of(answers[0], session.location.shown, "connect"))
    return list(answers)


def _refuse_without_permissions(session: Session, patience: float) -> Talk[None]:
    """A function that is refused a command half way leaves half a change: so all are tried before the first."""
    location = session.location
    (denied,) = yield from _ask(session, [location.face.call(library.MAY, False, location.namespace, "", "", "")], patience)
    if denied:
        commands = " ".join(f"+{command.decode()}" for command in denied)
        problem = f"it may not run commands that functions need; allow {commands}"
        _refuse(StoreForbids(url=session.location.shown, problem=problem))


def _ensure_library(session: Session, patience: float) -> Talk[None]:
    """Load the library unless the server has this version or a newer one. One client does, the others wait for it."""
    if (yield from _has_library(session, patience)):
        return
    lock = f"{session.location.namespace}x:loading"
    (mine,) = yield from _ask(session, [("SET", lock, "1", "NX", "PX", 5000)], patience)
    if mine is None:
        raise _NotNow(
            Fault(Reaction.REPEAT, StoreUnavailable(path=session.location.shown, problem="the library is being loaded"))
        )
    try:
        if not (yield from _has_library(session, patience)):
            yield from _ask(session, [session.location.face.load()], patience)
            session.version = library.VERSION
    except _NotNow:
        yield Send([("DEL", lock)], patience)
        raise
    yield from _ask(session, [("DEL", lock)], patience)


def _has_library(session: Session, patience: float) -> Talk[bool]:
    face = session.location.face
    answers = yield Send([face.question(session.location.namespace)], patience)
    if isinstance(answers, Lost):
        raise _NotNow(Fault(Reaction.REPEAT, StoreUnavailable(path=session.location.shown, problem=answers.problem)))
    (version,) = answers
    if not isinstance(version, Exception):
        session.version = face.version(version)
        return session.version >= library.VERSION
    fault = fault_of(version, session.location.shown, "connect")
    if fault.reaction is Reaction.LOAD:
        return False
    raise _NotNow(fault)
