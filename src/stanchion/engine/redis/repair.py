"""How a namespace is checked and mended: never by a guess, only by making what is derived agree again with what it is derived from.

Others may be at work meanwhile. So what is found must be found twice, and each change is made only if the records that it is
derived from are still as they were read.
"""

from __future__ import annotations

from stanchion.engine.contract import Finding
from stanchion.engine.redis.dump import engine_time
from stanchion.engine.redis.inspection import STEPS, inspect
from stanchion.engine.redis.layout import key_of
from stanchion.engine.redis.mending.base import Mending
from stanchion.engine.redis.snapshot import Snapshot, Talk, bytes_of, read, read_keys


def check(namespace: str, *, fix: bool = False, now: float | None = None) -> Talk[list[Finding]]:
    """Everything that is wrong; with ``fix``, mended as far as that can be. To be held on one connection of its own."""
    found = yield from _look(namespace, now)
    if not found:
        return found
    if not fix:
        again = yield from _look(namespace, now)
        return [finding for finding in found if finding in again]
    for step in STEPS:
        snapshot = yield from read(namespace)
        for mending in step(snapshot, _time(snapshot, now)):
            yield from _mend(snapshot, mending)
    left = {(finding.code, finding.subject) for finding in (yield from _look(namespace, now))}
    return [
        Finding(finding.code, finding.subject, finding.message, (finding.code, finding.subject) not in left)
        for finding in found
    ]


def _look(namespace: str, now: float | None) -> Talk[list[Finding]]:
    snapshot = yield from read(namespace)
    return inspect(snapshot, _time(snapshot, now))


def _time(snapshot: Snapshot, now: float | None) -> float:
    return engine_time(snapshot) if now is None else now


def _mend(snapshot: Snapshot, mending: Mending) -> Talk[None]:
    """Run the commands as one, if what they are derived from is still there as it was."""
    if not mending.commands:
        return
    keys = [bytes_of(key_of(snapshot.namespace, *place)) for place in mending.watched]
    if keys:
        yield [("WATCH", *keys)]
        fresh = Snapshot(snapshot.namespace)
        yield from read_keys(fresh, keys)
        if any(fresh.get(*place) != snapshot.get(*place) for place in mending.watched):
            yield [("UNWATCH",)]
            return
    commands = [tuple(bytes_of(part) if isinstance(part, str) else part for part in command) for command in mending.commands]
    replies = yield [("MULTI",), *commands, ("EXEC",)]
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply
