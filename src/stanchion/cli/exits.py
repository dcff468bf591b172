"""The exit codes of every command."""

from __future__ import annotations

from stanchion.errors import BadArgument, BadURL, OutcomeUnknown, Refused, Retryable, StanchionError

OK, FOUND, USAGE, REFUSED, RETRY, UNKNOWN, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

MEANINGS = {
    OK: "done",
    FOUND: "fsck or the doctor found something, or what was asked for is not there",
    USAGE: "the command's words are off, or an argument was refused",
    REFUSED: "refused: nothing was changed, and it would be refused again",
    RETRY: "the store was busy or away: nothing was changed, try again",
    UNKNOWN: "it is not known whether it happened",
    INTERRUPTED: "interrupted by Ctrl-C",
}

_BY_KIND: tuple[tuple[type[StanchionError], int], ...] = (
    (BadArgument, USAGE),
    (BadURL, USAGE),
    (Refused, REFUSED),
    (Retryable, RETRY),
    (OutcomeUnknown, UNKNOWN),
)


def exit_code(error: StanchionError) -> int:
    """The exit code of a command that ended with this error."""
    return next((code for kind, code in _BY_KIND if isinstance(error, kind)), REFUSED)
