"""Moving house: everything of one store is in the other, and goes on there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from stanchion import commands as c
from stanchion.client import moving
from stanchion.client.moving import fingerprints, migrate, move, parts_of
from stanchion.client.open import open_engine
from stanchion.engine.contract import MARK
from stanchion.errors import MoveRefused, StoreRefused
from tests.model.comparing import compare_states, reply_of, same_reply
from tests.model.drawing import Step, steps
from tests.model.naive import Naive
from tests.redis.keys import NOW, Keys

pytestmark = pytest.mark.slow

START = 1000.0
KINDS = ("sqlite", "redis")
ROUTES = [(source, target) for source in KINDS for target in KINDS]


@pytest.fixture
def open_as(tmp_path: Path, keys: Keys, socket: Path) -> Iterator[Any]:
    """Makes engines: SQLite on files, Redis in namespaces of their own."""
    opened: list[Any] = []

    def open(kind: str, name: str) -> Any:
        urls = {
            "sqlite": f"sqlite:///{tmp_path}/{name}.db?durability=fast",
            "redis": f"unix://{socket}?namespace=%7B{name}%7D:",
        }
        opened.append(open_engine(urls[kind]))
        return opened[-1]

    yield open
    for one in opened:
        one.close()


def fill(engine: Any) -> None:
    """A job in every state, and one of everything else."""

    def run(command: c.Command[Any], now: float = NOW) -> Any:
        return engine.run(command, now=now)

    run(c.SetThrottle("narrow", 1))
    run(c.SetThrottle("brief", 3, 100))
    run(c.Put("q", "running", "K", tags=("red", "ü"), throttles=("narrow", "a/b"), priority=9, retries=-1))
    run(c.Put("q", "throttled", "K", throttles=("narrow", "a/b"), priority=8.5))
    run(c.Put("q", "throttled-2", "K", throttles=("narrow",), priority=8.5))
    run(c.Put("q", "complete", "K", '{"big": 12345678901234567890, "list": []}', priority=7))
    run(c.Put("q", "complete-2", "K", priority=7, retries=0))
    run(c.Put("q", "failed", "K", priority=6))
    run(c.Put("q", "failed-2", "K", priority=6))
    run(c.Put("q", "kept", "K", priority=6))
    assert len(run(c.Pop("q", "worker", 6), NOW + 0.25)) == 6
    run(c.Complete("complete", "worker", "q", result="[1]"), NOW + 1)
    run(c.Complete("complete-2", "worker", "q"), NOW + 0.5)
    run(c.Fail("failed", "worker", "oops", "it broke\n\x00"[:-1]), NOW + 1)
    run(c.Fail("failed-2", "worker", "oops", "it broke"), NOW + 2)
    run(c.Retry("kept", "q", "worker", 0, "later", "try again"), NOW + 2)
    run(c.Put("p", "stalled", "K"))
    run(c.Pop("p", "other", 1))
    run(c.Timeout(("stalled",)), NOW + 3)
    run(c.Put("q", "waiting", "K", tags=("red", "green"), throttles=("other",)))
    run(c.Put("q", "waiting-2", "K", tags=("red",)))
    run(c.Put("q", "depends", "K", depends=("waiting",), on_dependency_failure="fail", delay=500))
    run(c.Put("q", "depends-2", "K", depends=("failed", "waiting")))
    run(c.Put("q", "scheduled", "K", delay=60))
    run(c.Put("q", "came-due", "K", delay=1))
    run(c.Put("gone", "forgotten", "K"))
    run(c.ForgetQueues(("gone",)))
    run(c.Recur("q", "template", "K", "{}", 60.5, 5.25, tags=("blue",), throttles=("narrow",), backlog=2))
    run(c.Peek("q", 1), NOW + 6)
    run(c.SetConfig("heartbeat", 30))
    run(c.SetConfig("colour", "red"))
    run(c.Track("waiting"))
    run(c.Track("running"))
    run(c.Track("scheduled"))
    run(c.Cancel(("scheduled",)))
    run(c.Log("waiting", "seen", '{"by": "ada", "n": 1.5}'))
    run(c.Pause(("p", "idle")))


@pytest.mark.parametrize(("source", "target"), ROUTES)
def test_everything_comes_along(open_as: Any, source: str, target: str) -> None:
    own, other = open_as(source, "own"), open_as(target, "other")
    fill(own)
    told: list[tuple[int, int]] = []
    moved = move(own, other, lambda done, parts: told.append((done, parts)))
    assert (moved.jobs, moved.templates, moved.resumed) == (len(own.holdings().jobs), 1, False)
    assert told == [(done, told[-1][1]) for done in range(told[-1][1] + 1)]
    assert fingerprints(other) == fingerprints(own)
    for now in (NOW + 10, NOW + 1000, NOW + 86400):
        assert other.dump(now=now) == own.dump(now=now)
        assert other.check(now=now) == []
    assert other.run(c.GetConfig(MARK), now=NOW) is None
    assert move(own, other).digest == moved.digest


@pytest.mark.parametrize(("source", "target"), ROUTES)
def test_both_go_on_alike(open_as: Any, source: str, target: str) -> None:
    """The same commands have the same effects in the old place and in the new."""
    own, other = open_as(source, "own"), open_as(target, "other")
    fill(own)
    move(own, other)
    later = [
        *(c.Heartbeat("running", "worker", attempt=1), c.Unpause(("p",)), c.Pop("p", "w", 5), c.Pop("q", "w", 3)),
        *(c.Complete("running", "worker", "q"), c.Pop("q", "w", 50), c.Unfail("q", "oops", 1), c.Cancel(("complete",))),
        *(c.Recur("q", "template", "K", "{}", 60.5, 5.25, tags=("blue",)), c.Complete("waiting", "w", "q")),
        *(c.AddTags("came-due", ("red",)), c.Put("q", "new", "K", throttles=("narrow",)), c.DeleteThrottle("narrow")),
        *(c.Pop("q", "w", 50), c.Track("new"), c.AllCounts(), c.AllWorkers(), c.Tracked(), c.Tagged("red")),
        *(c.Failed("oops"), c.Stats("q"), c.ListJobs("complete", None)),
    ]
    for step, command in enumerate(later):
        now = NOW + 20 + step
        assert other.run(command, now=now) == own.run(command, now=now), command
        assert other.dump(now=now) == own.dump(now=now), command
    assert other.check(now=NOW + 50) == []


@pytest.mark.parametrize("target", KINDS)
def test_a_move_that_was_stopped_goes_on(open_as: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "JOBS", 4)
    monkeypatch.setattr(moving, "ENTRIES", 3)
    own, other = open_as("sqlite", "own"), open_as(target, "other")
    fill(own)
    parts = len(list(parts_of(own.holdings())))
    assert parts > 8
    stops = {1, 3, parts - 1, parts}

    def tell(done: int, of: int) -> None:
        if done in stops:
            stops.remove(done)
            raise KeyboardInterrupt

    while stops:
        with pytest.raises(KeyboardInterrupt):
            move(own, other, tell)
        assert other.run(c.Pop("q", "early", 5), now=NOW) == ()
        other.run(c.Deregister(("early",)), now=NOW)
    assert move(own, other, tell).resumed
    assert other.dump(now=NOW + 10) == own.dump(now=NOW + 10)
    assert other.check(now=NOW + 10) == []


@pytest.mark.parametrize("target", KINDS)
def test_a_source_that_changed_is_moved_anew(open_as: Any, target: str) -> None:
    own, other = open_as("sqlite", "own"), open_as(target, "other")
    fill(own)

    def tell(done: int, parts: int) -> None:
        if done == parts:
            own.run(c.Put("q", "late", "K"), now=NOW)

    with pytest.raises(MoveRefused, match="changed meanwhile"):
        move(own, other, tell)
    own.run(c.Put("q", "later still", "K"), now=NOW)
    move(own, other)
    assert other.dump(now=NOW + 10) == own.dump(now=NOW + 10)
    assert other.check(now=NOW + 10) == []


@pytest.mark.parametrize("target", KINDS)
def test_what_is_refused(open_as: Any, target: str) -> None:
    own, other = open_as("sqlite", "own"), open_as(target, "other")
    with pytest.raises(MoveRefused, match="the same"):
        move(other, other)
    fill(own)
    other.run(c.Put("q", "mine", "K"), now=NOW)
    with pytest.raises(MoveRefused, match="not empty: it has jobs"):
        move(own, other)
    assert set(other.dump(now=NOW).jobs) == {"mine"}


def test_what_comes_to_the_target_meanwhile_is_noticed(open_as: Any) -> None:
    own, other = open_as("sqlite", "own"), open_as("redis", "other")
    fill(own)
    with pytest.raises(MoveRefused, match="not the same"):
        move(own, other, lambda done, parts: done == parts and other.run(c.Put("q", "early", "K"), now=NOW))
    move(own, other)
    assert other.dump(now=NOW + 10) == own.dump(now=NOW + 10)


def test_a_password_is_told_to_nobody(open_as: Any, tmp_path: Path, socket: Path) -> None:
    secret = f"unix://user:se%20cret@{socket}?password=se%20cret&namespace=x:"
    with pytest.raises(MoveRefused, match="the same") as caught:
        migrate(secret, secret)
    assert "cret" not in str(caught.value)


def test_names_that_the_target_cannot_hold(open_as: Any) -> None:
    own, other = open_as("sqlite", "own"), open_as("redis", "other")
    own.run(c.Put("q", "the-history", "K"), now=NOW)
    with pytest.raises(StoreRefused, match="the-history"):
        move(own, other)


def test_an_unsound_source_is_refused(open_as: Any, keys: Keys) -> None:
    own, other = open_as("redis", "own"), open_as("sqlite", "other")
    fill(own)
    keys.redis.zadd("{own}:q:q-work", {"nobody": 1})
    with pytest.raises(MoveRefused, match="fsck"):
        move(own, other)
    assert not other.dump(now=NOW).jobs


def test_parts_are_bounded(open_as: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    own = open_as("sqlite", "own")
    fill(own)
    whole = own.holdings()
    monkeypatch.setattr(moving, "JOBS", 3)
    monkeypatch.setattr(moving, "BYTES", 10)
    parts = list(parts_of(whole))
    assert max(len(part.jobs) for part in parts) == 3
    numbers = [number for part in parts for number in part.numbers.values()]
    assert all(one < other for one, other in pairwise(numbers))
    assert [jid for part in parts for jid in part.jobs] == list(whole.jobs)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps)
def test_any_state_comes_along_and_goes_on(keys: Keys, socket: Path, drawn: list[Step]) -> None:
    """Random commands, then there and back again: both stores are in the state that the model is in, and go on as it does."""
    keys.redis.flushdb()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        urls = ("sqlite://", f"unix://{socket}?namespace=n:", f"sqlite:///{folder}/back.db?durability=fast")
        first, there, back = (stack.enter_context(closing(open_engine(url))) for url in urls)
        model, now = Naive(), START
        for one in drawn:
            now += one.seconds
            command = one.aimed(model)
            assert same_reply(reply_of(first.run, command, now), reply_of(model.run, command, now))
        move(first, there)
        move(there, back)
        for one in drawn:
            now += one.seconds
            command = one.aimed(model)
            expected = reply_of(model.run, command, now)
            for engine in (there, back):
                assert same_reply(reply_of(engine.run, command, now), expected), command
                compare_states(engine.dump(now=now), model.dump(now), command)
        assert there.check(now=now) == back.check(now=now) == []
