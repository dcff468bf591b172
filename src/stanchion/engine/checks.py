"""What every engine checks before it runs anything."""

from __future__ import annotations

from stanchion.commands.kinds import Number
from stanchion.errors import BadArgument

_MOMENT = Number(optional=True)


def check_now(what: str, now: float | None) -> None:
    """Refuse a time that is none, before it gets into the store."""
    try:
        _MOMENT.check(now)
    except ValueError as problem:
        raise BadArgument(command=what, argument="now", problem=str(problem)) from None
