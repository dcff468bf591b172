"""What a command is: a frozen dataclass that knows its name, its reply's type and whether it only reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, ClassVar, Generic, TypeVar, get_args, get_origin, get_type_hints

from stanchion.commands.kinds import Kind
from stanchion.errors import BadArgument

R = TypeVar("R")


class Command(Generic[R]):
    """One thing that the queue can do.

    A subclass is a frozen dataclass whose fields are the arguments, each annotated with its :class:`Kind`. All of them are
    checked, and brought into their one form (lists become tuples), when the command is made: a wrong command cannot exist.
    """

    __slots__ = ()

    name: ClassVar[str]
    reads: ClassVar[bool] = False
    """True if it changes nothing, whenever it is run."""

    def __post_init__(self) -> None:
        for field, check in _CHECKS.get(type(self)) or _learn(type(self)):
            given = getattr(self, field)
            try:
                value = check(given)
            except ValueError as problem:
                raise BadArgument(command=self.name, argument=field, problem=str(problem)) from None
            if value is not given:
                object.__setattr__(self, field, value)
        self.check_together()

    def check_together(self) -> None:
        """Check what one argument says about another."""

    def refuse(self, argument: str, problem: str) -> BadArgument:
        """The error that names the argument of this command and its problem."""
        return BadArgument(command=self.name, argument=argument, problem=problem)


def kinds_of(command: type[Any]) -> dict[str, Kind]:
    """The kind of each argument, by its name, in order."""
    hints = get_type_hints(command, include_extras=True)
    return {field.name: _kind(hints[field.name]) for field in fields(command)}


def reply_type(command: type[Any]) -> Any:
    """The type of the command's reply, as its class statement says it."""
    for base in getattr(command, "__orig_bases__", ()):
        if isinstance(get_origin(base), type) and issubclass(get_origin(base), Command):
            return get_args(base)[0]
    return reply_type(command.__mro__[1])


def _kind(hint: Any) -> Kind:
    return (
        next(extra for extra in get_args(hint)[1:] if isinstance(extra, Kind)) if get_origin(hint) is Annotated else Kind()
    )


_Checks = tuple[tuple[str, Callable[[Any], Any]], ...]
_CHECKS: dict[type[Any], _Checks] = {}


def _learn(command: type[Any]) -> _Checks:
    """Read off the class what to check, once: commands are made often."""
    checks = tuple((name, kind.check) for name, kind in kinds_of(command).items())
    _CHECKS[command] = checks
    return checks
