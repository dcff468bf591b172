"""Failed jobs, by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stanchion.commands.base import Command
from stanchion.commands.kinds import Count, Group
from stanchion.records import JobPage


@dataclass(frozen=True, slots=True)
class FailureGroups(Command[dict[str, int]]):
    """How many jobs are failed in each group."""

    name: ClassVar[str] = "failures"
    reads: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Failed(Command[JobPage]):
    """A page of a group's failed jobs, newest first."""

    name: ClassVar[str] = "failed"
    reads: ClassVar[bool] = True

    group: Group
    start: Count = 0
    limit: Count = 25
