"""Configuration: stored with the queue, changed at run time, read by every command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from stanchion.commands.base import Command
from stanchion.commands.kinds import Kind, Option
from stanchion.rules.config import ConfigValue, parse_option


@dataclass(frozen=True, slots=True)
class GetConfig(Command[ConfigValue | None]):
    """The value of an option: what was set, else its default, else nothing."""

    name: ClassVar[str] = "config.get"
    reads: ClassVar[bool] = True

    option: Option


@dataclass(frozen=True, slots=True)
class AllConfig(Command[dict[str, ConfigValue]]):
    """Every option that has a default or was set, with its value."""

    name: ClassVar[str] = "config.all"
    reads: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class SetConfig(Command[None]):
    """Set an option. A known one takes its kind of value only; one that nobody knows is kept as text."""

    name: ClassVar[str] = "config.set"

    option: Option
    value: Annotated[ConfigValue, Kind()]

    def check_together(self) -> None:
        try:
            object.__setattr__(self, "value", parse_option(self.option, self.value))
        except ValueError as problem:
            raise self.refuse("value", str(problem)) from None


@dataclass(frozen=True, slots=True)
class UnsetConfig(Command[None]):
    """Give an option its default again."""

    name: ClassVar[str] = "config.unset"

    option: Option
