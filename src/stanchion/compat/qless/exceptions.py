"""Errors as code written for qless-py expects them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from stanchion.errors import LockLost, Refused


class QlessException(Exception):
    """A command was refused: its text says why, and ``__cause__`` is the error of :mod:`stanchion.errors`."""


class LostLockException(QlessException):
    """The job's lock is another worker's, or nobody's. Its one argument is the jid."""


class UnregisteredKlass(QlessException, LookupError):
    """A job's klass names no code that was registered in this process."""


@contextmanager
def translated() -> Iterator[None]:
    """Refusals become QlessException. Trouble with the store (Retryable, OutcomeUnknown) stays what it is."""
    try:
        yield
    except LockLost as error:
        raise LostLockException(error.details["jid"]) from error
    except Refused as error:
        raise QlessException(str(error)) from error
