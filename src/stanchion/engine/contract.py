"""What every engine is: it runs commands, one atomic change each, and can wait, publish and show its whole state."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from stanchion.commands import Command
from stanchion.records import Event, Job, QueueStats, Record, RecurringJob, Throttle

R = TypeVar("R")


class Capabilities(Record, frozen=True):
    """What differs between engines. Each is written in the docs; no code asks which engine it is."""

    durable: bool
    """An acknowledged change outlives the process."""
    exact_order: bool
    """First in, first out holds among equals of any priority, however close in time they were put."""
    other_processes: bool
    """Other processes can work on the same queues."""


class QueueState(Record, frozen=True):
    """A queue's collections, each in its own order. ``running`` and ``scheduled`` map a jid to when it lapses or is due."""

    known: bool = True
    paused: bool = False
    waiting: tuple[str, ...] = ()
    running: dict[str, float] = {}
    stalled: tuple[str, ...] = ()
    scheduled: dict[str, float] = {}
    depends: tuple[str, ...] = ()
    throttled: tuple[str, ...] = ()
    recurring: dict[str, float] = {}


class ThrottleState(Record, frozen=True):
    """A throttle with its holders and those that wait, in the order in which they will get a place."""

    throttle: Throttle
    locks: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


class WorkerState(Record, frozen=True):
    """When a worker was last seen, and the jids of its list, sorted."""

    seen: float
    jobs: tuple[str, ...] = ()


class StateDump(Record, frozen=True):
    """The whole state, the same from every engine: for the invariant checker, the model tests and moving house.

    It is taken as of ``now``: scheduled jobs whose time has come are listed as waiting. ``queues`` holds every queue that is
    known, paused, or named by a job or a template; ``throttles`` those that limit, hold or delay anything. ``stats`` is keyed by
    queue, then by UTC day.
    """

    now: float
    jobs: dict[str, Job]
    recurring: dict[str, RecurringJob]
    queues: dict[str, QueueState]
    workers: dict[str, WorkerState]
    complete: tuple[str, ...]
    failures: dict[str, tuple[str, ...]]
    tags: dict[str, tuple[str, ...]]
    tracked: tuple[str, ...]
    throttles: dict[str, ThrottleState]
    stats: dict[str, dict[int, QueueStats]]
    config: dict[str, Any]


class Holdings(Record, frozen=True):
    """What a database holds, or a part of it, for moving house: records as they are kept, whatever time it is.

    ``jobs`` are in the order in which they were put, and ``numbers`` says it in parts. ``tags`` and ``places`` map names to
    jids, with their place in the index, and since when they hold a throttle. ``queues`` says which are known and which paused,
    in the order first seen; ``throttles`` has maximum and end (0: never); ``failed`` the groups, newest first; ``spreads`` the
    sums of squared distances from the means of waits and runs, which ``stats`` has only the roots of. ``state`` is what the
    database shows of all of it at the same moment; parts have none.
    """

    jobs: dict[str, Job] = {}
    numbers: dict[str, int] = {}
    completed: dict[str, float] = {}
    failed: dict[str, tuple[str, ...]] = {}
    tags: dict[str, dict[str, int]] = {}
    places: dict[str, dict[str, float]] = {}
    tracked: dict[str, float] = {}
    templates: dict[str, RecurringJob] = {}
    offsets: dict[str, float] = {}
    queues: dict[str, tuple[bool, bool]] = {}
    workers: dict[str, float] = {}
    throttles: dict[str, tuple[int, float]] = {}
    stats: dict[str, dict[int, QueueStats]] = {}
    spreads: dict[str, dict[int, tuple[float, float]]] = {}
    config: dict[str, Any] = {}
    state: StateDump | None = None


MARK = "moving"
"""The option that a database has while another's holdings are being moved into it: how far that has come."""

AS_KEPT = 0.0
"""A time at which nothing has come due: a state as of then is as it is kept."""


class Finding(Record, frozen=True):
    """Something that is not as it must be: a code, the jid or other name it is about, what is wrong, and if it was mended."""

    code: str
    subject: str
    message: str
    mended: bool = False


class Advice(Record, frozen=True):
    """Something that is wrong with a store, or (``wrong`` false) that one should know: a code, what it is, and what to do."""

    code: str
    message: str
    remedy: str
    wrong: bool = True


class Diagnosis(Record, frozen=True):
    """What a store is like: facts by their names, for people, and what follows from them."""

    facts: dict[str, Any]
    advice: tuple[Advice, ...] = ()


class Outcome(Record, frozen=True):
    """What came of one of many commands: its reply, or its error."""

    reply: Any = None
    error: BaseException | None = None


class Subscription(Protocol):
    """Events from all processes, in the order in which they were published, from when it was made until closed.

    Use it as a context manager. Events are hints: one can be lost when a process dies, so correctness never rests on them.
    """

    def get(self, timeout: float | None = None) -> Event | None:
        """The next event; None when ``timeout`` seconds pass without one, or once closed."""

    def __iter__(self) -> Iterator[Event]: ...

    def __enter__(self) -> Subscription: ...

    def __exit__(self, *exc: object) -> None: ...

    def close(self) -> None: ...


class Engine(Protocol):
    """An engine for callers that block."""

    @property
    def url(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def run(
        self,
        command: Command[R],
        *,
        now: float | None = None,
        token: str | None = None,
        timeout: float | None = None,
    ) -> R:
        """Run one command and return its reply, once it is as durable as the engine promises.

        ``now`` replaces the engine's clock, for tests. With a ``token`` the command can be repeated after a lost reply: the
        second run changes nothing and answers as the first did. ``timeout`` is in seconds.

        Raises Refused, Retryable or OutcomeUnknown.
        """

    def run_many(
        self, commands: Sequence[Command[Any]], *, now: float | None = None, timeout: float | None = None
    ) -> list[Outcome]:
        """Run several commands in order in one round trip, each atomic by itself: an error of one stops no other."""

    def ticket(self) -> object:
        """A mark of this moment for ``wait``: take it, look for work, then wait for what came since."""

    def wait(self, queues: Sequence[str], timeout: float, *, since: object = None) -> bool:
        """Sleep until one of the queues may have something to pop, or ``timeout`` seconds pass (False)."""

    def subscribe(self, channels: Sequence[str]) -> Subscription:
        """Listen to channels (``log``, ``w:<worker>``, ``completed``…; ``*`` for all)."""

    def dump(self, *, now: float | None = None) -> StateDump:
        """The whole state at one moment."""

    def check(self, *, fix: bool = False, now: float | None = None) -> list[Finding]:
        """Everything that is wrong with the state; with ``fix``, mended as far as that can be done without a guess."""

    def diagnose(self) -> Diagnosis:
        """What the store below is like: versions, settings, sizes, speed. What it holds is for ``check``."""

    def holdings(self) -> Holdings:
        """All that the database holds, for moving house."""

    def load(self, part: Holdings, *, mark: str | None, anew: bool = False) -> None:
        """Add a part of what another database holds, and keep (or, for None, drop) the mark, in one change.

        No part is to be loaded twice. With ``anew`` all that is there goes first.
        """

    def close(self) -> None: ...


class AsyncSubscription(Protocol):
    """As :class:`Subscription`, awaited."""

    async def get(self, timeout: float | None = None) -> Event | None: ...

    def __aiter__(self) -> AsyncIterator[Event]: ...

    async def __aenter__(self) -> AsyncSubscription: ...

    async def __aexit__(self, *exc: object) -> None: ...

    async def close(self) -> None: ...


class AsyncEngine(Protocol):
    """An engine for callers that await: as :class:`Engine`, verb for verb."""

    @property
    def url(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    async def run(
        self,
        command: Command[R],
        *,
        now: float | None = None,
        token: str | None = None,
        timeout: float | None = None,
    ) -> R: ...

    async def run_many(
        self, commands: Sequence[Command[Any]], *, now: float | None = None, timeout: float | None = None
    ) -> list[Outcome]: ...

    def ticket(self) -> object: ...

    async def wait(self, queues: Sequence[str], timeout: float, *, since: object = None) -> bool: ...

    async def subscribe(self, channels: Sequence[str]) -> AsyncSubscription: ...

    async def dump(self, *, now: float | None = None) -> StateDump: ...

    async def check(self, *, fix: bool = False, now: float | None = None) -> list[Finding]: ...

    async def diagnose(self) -> Diagnosis: ...

    async def close(self) -> None: ...
