"""What can be wrong with a namespace: what every engine's state is checked for, and what only keys can have."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stanchion.engine.contract import Finding
from stanchion.engine.invariants import check
from stanchion.engine.redis.dump import dump
from stanchion.engine.redis.mending.base import Mending
from stanchion.engine.redis.mending.entries import mend_entries
from stanchion.engine.redis.mending.keys import mend_keys
from stanchion.engine.redis.mending.links import mend_links, mend_releases
from stanchion.engine.redis.mending.lists import mend_groups, mend_lists
from stanchion.engine.redis.mending.records import mend_records, mend_states
from stanchion.engine.redis.snapshot import Snapshot

Step = Callable[[Snapshot, float], Iterator[Mending]]
"""Of a snapshot and a time: what is to be mended."""

STEPS: tuple[Step, ...] = (
    lambda snapshot, now: mend_keys(snapshot),
    mend_records,
    mend_states,
    mend_links,
    mend_releases,
    mend_entries,
    lambda snapshot, now: mend_groups(snapshot),
    lambda snapshot, now: mend_lists(snapshot),
)
"""What to mend, in this order: each step takes what the ones before have mended for granted."""


def inspect(snapshot: Snapshot, now: float) -> list[Finding]:
    """Everything that is wrong."""
    own = [finding for step in STEPS for mending in step(snapshot, now) for finding in mending.findings]
    return list(dict.fromkeys([*own, *check(dump(snapshot, now))]))
