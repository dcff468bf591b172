"""How a namespace is checked and mended: never by a guess, only by making what is derived agree again with what it is derived from.

Others may be at work meanwhile. So what is found must be found twice, and each change is made only if what it is derived from is
still as it was read.
"""

from __future__ import annotations

from msgspec.structs import replace

from stanchion.engine.contract import Finding
from stanchion.engine.redis.dump import engine_time
from stanchion.engine.redis.inspection import STEPS, Step, inspect
from stanchion.engine.redis.layout import key_of
from stanchion.engine.redis.mending.base import Mending
from stanchion.engine.redis.snapshot import Snapshot, Talk, bytes_of, read, read_keys


def check(namespace: str, *, fix: bool = False, now: float | None = None) -> Talk[list[Finding]]:
    """Everything that is wrong; with ``fix``, mended as far as that can be. To be held on one connection of its own."""
    found, now = yield from _look(namespace, now)
    if found:
        again, _ = yield from _look(namespace, now)
        found = [finding for finding in found if finding in again]
    if not found or not fix:
        return found
    for step in STEPS:
        yield from _take(step, namespace, now)
    left, _ = yield from _look(namespace, now)
    known = {(finding.code, finding.subject) for finding in left}
    return [replace(finding, mended=(finding.code, finding.subject) not in known) for finding in found]


def _look(namespace: str, now: float | None) -> Talk[tuple[list[Finding], float]]:
    """What is wrong, and the time as of which that was asked."""
    snapshot = yield from read(namespace, expiries=True)
    time = engine_time(snapshot) if now is None else now
    return inspect(snapshot, time), time


def _take(step: Step, namespace: str, now: float) -> Talk[None]:
    """Mend what two looks, one after the other, find to be mended alike."""
    found = set(step((yield from read(namespace, expiries=True)), now))
    if found:
        snapshot = yield from read(namespace, expiries=True)
        for mending in step(snapshot, now):
            if mending in found:
                yield from _mend(snapshot, mending)


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
