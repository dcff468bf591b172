"""Moving house: all queues of one store, with everything that belongs to them, into another that is empty.

It goes part by part, each with a mark of how far it has come, so that a move which was stopped goes on where it was. Until all of
it is there, and verified, every queue of the target is paused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from stanchion.client.open import open_engine
from stanchion.client.urls import without_password
from stanchion.commands import GetConfig
from stanchion.engine.contract import MARK, Engine, Holdings, StateDump
from stanchion.errors import MoveRefused
from stanchion.records import Job, Record

K = TypeVar("K")
V = TypeVar("V")

JOBS, BYTES = 500, 2_000_000
"""The most jobs of a part, and about how much data they have."""

ENTRIES, DAYS = 2000, 100
"""The most entries of indexes in a part, and the most days of statistics."""


_ANEW = "anew 0"  # the mark of a target that cannot be gone on with


class Moved(Record, frozen=True):
    """What was moved: how many jobs and templates, the digest of both stores, and if it went on with an earlier move."""

    jobs: int
    templates: int
    digest: str
    resumed: bool


def migrate(source: str, target: str, tell: Callable[[int, int], None] = lambda done, parts: None) -> Moved:
    """Move everything from the store at one URL to that at another. ``tell`` hears how many parts of how many are done.

    Raises MoveRefused: the source must be sound, and the target empty, or what an earlier move has left. The source is not
    changed; that nobody changes it meanwhile is for the caller to see to: if somebody does, the move is refused at its end.
    """
    with closing(open_engine(source)) as own, closing(open_engine(target)) as other:
        return move(own, other, tell)


def move(source: Engine, target: Engine, tell: Callable[[int, int], None] = lambda done, parts: None) -> Moved:
    """As ``migrate``, between engines."""
    return _Move(source, target, tell).run()


def fingerprints(engine: Engine) -> dict[str, str]:
    """Digests of all that a store holds and shows, by what it is. Whether queues are paused is left out."""
    return _fingerprints(engine.holdings())


class _Move:
    def __init__(self, source: Engine, target: Engine, tell: Callable[[int, int], None]) -> None:
        self._source = source
        self._target = target
        self._tell = tell

    def run(self) -> Moved:
        if self._source.url == self._target.url:
            raise self._refused("they are the same")
        unsound = self._source.check()
        if unsound:
            raise self._refused(f"there are {len(unsound)} findings in the source: see to them first (fsck --repair)")
        whole = self._source.holdings()
        before = _fingerprints(whole)
        digest = _digest(before.values())
        self._check_names(whole)
        parts = list(parts_of(whole))
        done = self._parts_done(before, digest)
        if done is not None:
            self._load(parts, done, digest)
            self._verify(before)
            self._target.load(_doors(whole, paused=None), mark=None)
        return Moved(len(whole.jobs), len(whole.templates), digest, resumed=done != 0)

    def _parts_done(self, before: dict[str, str], digest: str) -> int | None:
        """How many parts are there already; None if all are, and verified."""
        mark = self._target.run(GetConfig(MARK))
        if isinstance(mark, str):
            known, _, done = mark.partition(" ")
            return int(done) if known == digest else 0  # of another state of the source: from the beginning
        there = self._target.holdings()
        held = [field for field in there.__struct_fields__ if field != "state" and getattr(there, field)]
        if not held:
            return 0
        if _fingerprints(there) == before:
            return None
        what = ", ".join(held)
        raise self._refused(f"the target is not empty: it has {what}")

    def _load(self, parts: list[Holdings], done: int, digest: str) -> None:
        self._tell(done, len(parts))
        for number in range(done, len(parts)):
            self._target.load(parts[number], mark=f"{digest} {number + 1}", anew=number == 0)
            self._tell(number + 1, len(parts))

    def _verify(self, before: dict[str, str]) -> None:
        again = "; run it again, with nobody at work"
        if fingerprints(self._source) != before:
            raise self._refused(f"the source was changed meanwhile{again}")
        after = fingerprints(self._target)
        unlike = [what for what in before if before[what] != after.get(what)]
        if unlike:
            self._target.load(Holdings(), mark=_ANEW)
            raise self._refused(f"what has come there is not the same ({', '.join(unlike)}){again}")

    def _check_names(self, whole: Holdings) -> None:
        try:
            msgspec.json.encode(replace(whole, state=None))
        except UnicodeEncodeError:
            raise self._refused("there is a name in the source that is not UTF-8") from None

    def _refused(self, problem: str) -> MoveRefused:
        urls = {"source": without_password(self._source.url), "target": without_password(self._target.url)}
        return MoveRefused(**urls, problem=problem)


def parts_of(whole: Holdings) -> Iterator[Holdings]:
    """Everything in parts to be loaded one after another; all queues are paused by the first."""
    yield _doors(whole, paused=True)
    for jids in _batches_of_jobs(whole.jobs):
        yield Holdings(
            jobs={jid: whole.jobs[jid] for jid in jids},
            numbers={jid: whole.numbers[jid] for jid in jids},
            completed={jid: whole.completed[jid] for jid in jids if jid in whole.completed},
        )
    for tags in _slices(whole.tags, ENTRIES):
        yield Holdings(tags=tags)
    for places in _slices(whole.places, ENTRIES):
        yield Holdings(places=places)
    for failed in _slices({group: dict.fromkeys(jids) for group, jids in whole.failed.items()}, ENTRIES):
        yield Holdings(failed={group: tuple(jids) for group, jids in failed.items()})
    for stats in _slices(whole.stats, DAYS):
        yield Holdings(stats=stats, spreads=whole.spreads)
    rest = ("tracked", "templates", "offsets", "workers", "throttles", "config")
    yield Holdings(**{field: getattr(whole, field) for field in rest})


def _doors(whole: Holdings, paused: bool | None) -> Holdings:
    """The queues alone, all of them paused; or, for None, as they are."""
    used = {one.queue for records in (whole.jobs, whole.templates) for one in records.values()}
    unknown = dict.fromkeys(sorted(used - whole.queues.keys() - {""}), (False, False))
    queues = whole.queues | unknown
    return Holdings(queues={name: (known, own if paused is None else paused) for name, (known, own) in queues.items()})


def _batches_of_jobs(jobs: Mapping[str, Job]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for jid, job in jobs.items():
        if batch and (len(batch) == JOBS or size > BYTES):
            yield batch
            batch, size = [], 0
        batch.append(jid)
        size += len(job.data) + len(job.result or "")
    if batch:
        yield batch


def _slices(index: Mapping[str, Mapping[K, V]], most: int) -> Iterator[dict[str, dict[K, V]]]:
    """An index in slices of so many entries, in order."""
    entries = ((name, key, value) for name, members in index.items() for key, value in members.items())
    while some := list(islice(entries, most)):
        found: dict[str, dict[K, V]] = {}
        for name, key, value in some:
            found.setdefault(name, {})[key] = value
        yield found


def _fingerprints(whole: Holdings) -> dict[str, str]:
    kept = {field: getattr(whole, field) for field in whole.__struct_fields__ if field != "state"}
    # Of what is tracked, and of the queues, the order is what counts.
    kept |= {"tracked": list(whole.tracked), "queues": [name for name, (known, _) in whole.queues.items() if known]}
    if whole.state is not None:
        kept |= {f"shown {what}": value for what, value in _shown(whole.state).items()}
    return {what: _digest(_told(value)) for what, value in kept.items()}


def _shown(state: StateDump) -> dict[str, Any]:
    """What collections and indexes say. The records, and what has an order of its own, are compared as they are kept."""
    return {
        "queues": {name: replace(queue, paused=False) for name, queue in state.queues.items()},
        "workers": state.workers,
        "complete": state.complete,
        "throttles": state.throttles,
    }


def _told(value: Any) -> Iterator[str]:
    if not isinstance(value, dict):
        yield _text(value)
        return
    for key in sorted(value):
        yield _text([key, value[key]])


def _text(value: Any) -> str:
    return json.dumps(msgspec.to_builtins(value), sort_keys=True)


def _digest(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
        digest.update(b"\n")
    return digest.hexdigest()
