"""Every error of the package, in one tree.

::

    StanchionError
    ├── Refused                  nothing was changed; repeating the same call gives the same answer
    │   ├── BadArgument
    │   ├── JobNotFound, JobNotRunning, JobNotDepending, LockLost, WrongQueue
    │   ├── HasDependents, DependencyCircle
    │   ├── RecurringJobNotFound, JobFailed
    │   ├── TokenReused
    │   ├── TooMuchAtOnce
    │   ├── MoveRefused
    │   └── StoreRefused         the store itself cannot be used like this
    │       ├── BadURL, NotAQueueFile, NewerSchema, OldSQLite, NetworkFileSystem
    │       ├── ReadOnlyStore, DiskFull, FileReplaced, StoreClosed, StoreDamaged
    │       └── StoreFull, StoreForbids, OldServer, EvictingServer, NewerLibrary
    ├── Retryable                nothing was changed; repeat with the same token
    │   ├── StoreBusy
    │   └── StoreUnavailable
    └── OutcomeUnknown           it may or may not have happened; repeat with the same token to find out

The docstring of a class is the text of its message: the names in braces are the details it is raised with, and each is
kept in ``error.details``. ``code`` is the stable name that travels on the wire and in ``--json``.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any, ClassVar


class StanchionError(Exception):
    """Something went wrong in the queue."""

    code: ClassVar[str] = "error"

    def __init__(self, **details: Any) -> None:
        self.details = details
        super().__init__(self._message())

    def _message(self) -> str:
        # Under ``python -OO`` there are no docstrings: the code and the details still say what happened.
        template = inspect.cleandoc(self.__doc__ or "").replace("\n", " ")
        return template.format(**self.details) if template else f"{self.code}: {self.details}"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self.details), ()


class Refused(StanchionError):
    """The command was refused."""

    code = "refused"


class BadArgument(Refused):
    """{command}: {argument} {problem}."""

    code = "bad-argument"


class JobNotFound(Refused):
    """Job {jid} does not exist."""

    code = "job-not-found"


class JobNotRunning(Refused):
    """Job {jid} is not currently running: it is {state}."""

    code = "job-not-running"


class JobNotDepending(Refused):
    """Job {jid} is not in the depends state: it is {state}."""

    code = "job-not-depending"


class LockLost(Refused):
    """Job {jid} is no longer held by {worker}: another worker or a later attempt has it ({holder})."""

    code = "lock-lost"


class WrongQueue(Refused):
    """Job {jid} is not running in queue {queue} but in {actual}."""

    code = "wrong-queue"


class HasDependents(Refused):
    """Job {jid} is a dependency of {dependent}, which is not mentioned to be canceled."""

    code = "has-dependents"


class DependencyCircle(Refused):
    """Job {jid} would wait for itself: {circle}."""

    code = "dependency-circle"


class JobFailed(Refused):
    """Job {jid} failed ({group}): {message}"""

    code = "job-failed"


class RecurringJobNotFound(Refused):
    """There is no recurring job {jid}."""

    code = "recurring-job-not-found"


class TokenReused(Refused):
    """Request token {token} was used before, with another command ({earlier})."""

    code = "token-reused"


class TooMuchAtOnce(Refused):
    """{command}: {problem}; nothing was changed."""

    code = "too-much-at-once"


class MoveRefused(Refused):
    """{source} cannot be moved to {target}: {problem}."""

    code = "move-refused"


class StoreRefused(Refused):
    """The store at {url} cannot be used: {problem}."""

    code = "store-refused"


class BadURL(StoreRefused):
    """{url} is not a store's URL: {problem}."""

    code = "bad-url"


class NotAQueueFile(StoreRefused):
    """{path} is not a Stanchion database: {problem}."""

    code = "not-a-queue-file"


class NewerSchema(StoreRefused):
    """{path} was written by a newer Stanchion (schema {found}; this one knows {known}): upgrade this program."""

    code = "newer-schema"


class OldSQLite(StoreRefused):
    """SQLite {found} is too old: Stanchion needs {needed} or newer."""

    code = "old-sqlite"


class NetworkFileSystem(StoreRefused):
    """{path} is on a network file system ({kind}), where SQLite's locks cannot be trusted: move it to a local disk."""

    code = "network-file-system"


class ReadOnlyStore(StoreRefused):
    """{path} cannot be written: {problem}."""

    code = "read-only-store"


class DiskFull(StoreRefused):
    """No space left for {path}: nothing was changed; free some space and repeat."""

    code = "disk-full"


class FileReplaced(StoreRefused):
    """{path} is no longer the file that was opened: it was moved, replaced or removed. Open it again."""

    code = "file-replaced"


class StoreClosed(StoreRefused):
    """The store {path} is closed."""

    code = "store-closed"


class StoreDamaged(StoreRefused):
    """{path} is damaged: {problem}."""

    code = "store-damaged"


class StoreFull(StoreRefused):
    """The server at {url} is out of memory: nothing was changed. What finishes work goes on; puts do once memory is free."""

    code = "store-full"


class StoreForbids(StoreRefused):
    """The server at {url} does not let this user in or do this: {problem}."""

    code = "store-forbids"


class OldServer(StoreRefused):
    """The server at {url} is {found}: Stanchion needs {needed}."""

    code = "old-server"


class EvictingServer(StoreRefused):
    """The server at {url} throws keys away when memory is short (maxmemory-policy {policy}): jobs would be lost in silence.
    Set it to noeviction."""

    code = "evicting-server"


class NewerLibrary(StoreRefused):
    """The server at {url} has a newer function library ({found}; this program's is {known}), without {function}: upgrade
    this program."""

    code = "newer-library"


class Retryable(StanchionError):
    """Nothing was changed; repeat with the same token."""

    code = "retry"


class StoreBusy(Retryable):
    """The store {path} was busy for {seconds:.1f} s{holder}: nothing was changed; repeat with the same token."""

    code = "store-busy"


class StoreUnavailable(Retryable):
    """The store {path} cannot be reached: {problem}. Nothing was changed; repeat with the same token."""

    code = "store-unavailable"


class OutcomeUnknown(StanchionError):
    """It is not known whether {command} happened ({problem}): repeat with the same token to find out."""

    code = "unknown"
