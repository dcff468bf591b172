"""Throttles: named limits on how many jobs run at once, across queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stanchion.commands.base import Command
from stanchion.commands.kinds import Count, Delay, Jids, ThrottleId
from stanchion.records import Throttle


@dataclass(frozen=True, slots=True)
class SetThrottle(Command[None]):
    """Set a limit: at most ``maximum`` jobs with this throttle run at once (0: no limit). It is gone after ``expiration``
    seconds (0: it stays)."""

    name: ClassVar[str] = "throttle.set"

    id: ThrottleId
    maximum: Count
    expiration: Delay = 0.0


@dataclass(frozen=True, slots=True)
class GetThrottle(Command[Throttle]):
    """The limit; maximum 0 where none was set."""

    name: ClassVar[str] = "throttle.get"
    reads: ClassVar[bool] = True

    id: ThrottleId


@dataclass(frozen=True, slots=True)
class AllThrottles(Command[tuple[Throttle, ...]]):
    """Every limit that is set, by id."""

    name: ClassVar[str] = "throttles"
    reads: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class DeleteThrottle(Command[None]):
    """Remove a limit; the jobs that waited for it come back in line."""

    name: ClassVar[str] = "throttle.delete"

    id: ThrottleId


@dataclass(frozen=True, slots=True)
class ThrottleLocks(Command[tuple[str, ...]]):
    """The jids that hold a place, longest first."""

    name: ClassVar[str] = "throttle.locks"
    reads: ClassVar[bool] = True

    id: ThrottleId


@dataclass(frozen=True, slots=True)
class ThrottlePending(Command[tuple[str, ...]]):
    """The jids that wait for a place, in the order in which they will get it."""

    name: ClassVar[str] = "throttle.pending"
    reads: ClassVar[bool] = True

    id: ThrottleId


@dataclass(frozen=True, slots=True)
class ReleaseThrottle(Command[None]):
    """Take places from jobs by hand, running or not; those that waited for the throttle come back in line."""

    name: ClassVar[str] = "throttle.release"

    id: ThrottleId
    jids: Jids
