"""Keys by themselves: of the wrong type, about to be removed by the server, or belonging to no job; and options."""

from __future__ import annotations

from collections.abc import Iterator

from stanchion.engine.contract import Finding
from stanchion.engine.redis.dump import options_of
from stanchion.engine.redis.layout import found_at
from stanchion.engine.redis.mending.base import Keys, Mending
from stanchion.engine.redis.snapshot import Snapshot

_OF_A_JOB = ("history", "dependencies", "dependents", "concerned")


def mend_keys(snapshot: Snapshot) -> Iterator[Mending]:
    """What is wrong with keys."""
    yield from _wrong_types(snapshot)
    yield from _expiring(snapshot)
    yield from _orphans(snapshot)
    yield from _options(snapshot)


def _wrong_types(snapshot: Snapshot) -> Iterator[Mending]:
    """They are set aside, as any call would that meets them."""
    for key, type_ in sorted(snapshot.wrong.items()):
        found = Finding("wrong-type", key, f"is a {type_}, which it must not be")
        yield Mending((), (("RENAME", key, f"{snapshot.namespace}x:broken:{key}"),), (found,))


def _expiring(snapshot: Snapshot) -> Iterator[Mending]:
    """Nothing may go by itself. Of a limit that old scripts set for a while, the queue itself keeps the time."""
    keys = Keys(snapshot)
    for key, expires in sorted(snapshot.expiring.items()):
        place = found_at(key.removeprefix(snapshot.namespace), "hash")
        found = Finding("expires", key, "will be removed by the server")
        if place is None or place.kind != "throttle" or key in snapshot.wrong:
            yield Mending((), (("PERSIST", key),), (found,))
            continue
        kept = keys.command("HSET", ("throttle", place.name), "x-expires", expires)
        yield Mending((("throttle", place.name),), (kept, ("PERSIST", key)), (found,))


def _orphans(snapshot: Snapshot) -> Iterator[Mending]:
    keys = Keys(snapshot)
    for kind in _OF_A_JOB:
        for jid in sorted(snapshot.all(kind).keys() - snapshot.all("job").keys()):
            found = Finding("orphan", jid, f"has {kind}, but no record")
            yield Mending((("job", jid),), (keys.command("DEL", (kind, jid)),), (found,))


def _options(snapshot: Snapshot) -> Iterator[Mending]:
    options, sound, place = snapshot.get("config"), options_of(snapshot), ("config", "")
    broken = sorted(options.keys() - sound.keys())
    if broken:
        message = "has a value that cannot be read: {!r:.100}"
        found = tuple(Finding("broken-option", option, message.format(options[option])) for option in broken)
        yield Mending((place,), (Keys(snapshot).command("HDEL", place, *broken),), found)
