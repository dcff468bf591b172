"""Random commands from the whole vocabulary: every engine answers as the naive model does, and is in the same state."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stanchion import commands as c
from stanchion.client.open import open_engine
from stanchion.commands import VOCABULARY
from stanchion.engine.contract import Engine, Outcome
from tests.model.comparing import Pair, compare_states, plain, reply_of, same_reply
from tests.model.drawing import Step, steps
from tests.model.faults import Broken, Faults
from tests.model.naive import Naive
from tests.model.partner import Partner
from tests.servers import SHARED, binaries

EXAMPLES = int(os.environ.get("STANCHION_EXAMPLES", "60"))
"""Sequences of commands for the first test; the others take part of it. Hundreds for a change of the handlers."""

START = 1000.0

Steps = list[Step]
Run = Callable[..., Any]

pytestmark = pytest.mark.slow


def patient(examples: int) -> settings:
    return settings(max_examples=max(10, examples), deadline=None, suppress_health_check=list(HealthCheck))


@contextmanager
def file_url() -> Iterator[str]:
    """A place for a database that does not exist yet."""
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/jobs.db?durability=fast"


SERVERS = ["valkey", *(["redis"] if "redis" in binaries() else [])]


@pytest.fixture(scope="module", autouse=True)
def servers() -> Iterator[None]:
    yield
    SHARED.remove()


@contextmanager
def fresh(url: str = "sqlite://") -> Iterator[Pair]:
    """An empty engine, and a model beside it."""
    engine = open_engine(url)
    pair = Pair(engine)
    try:
        yield pair
    finally:
        pair.close()
        engine.close()


def hold(pair: Pair, drawn: Steps, run: Run | None = None) -> None:
    """Hold the engine to the model in every step. ``run`` stands in for the engine's."""
    now = START
    for one in drawn:
        now += one.seconds
        pair.step(one.aimed(pair.model), now, run)


@patient(EXAMPLES)
@given(steps)
def test_an_engine_in_memory_does_what_the_model_does(drawn: Steps) -> None:
    with fresh() as pair:
        hold(pair, drawn)


@pytest.mark.parametrize("kind", SERVERS)
@patient(EXAMPLES // 2)
@given(drawn=steps)
def test_an_engine_on_a_server_does_what_the_model_does(kind: str, drawn: Steps) -> None:
    with fresh(SHARED.url(kind)) as pair:
        hold(pair, drawn)


@patient(EXAMPLES // 2)
@given(steps, st.integers(1, 12))
def test_an_engine_on_a_file_that_is_closed_now_and_then_does_what_the_model_does(drawn: Steps, every: int) -> None:
    with file_url() as url:
        model = Naive()
        now = START
        for start in range(0, len(drawn), every):
            with fresh(url) as pair:
                pair.model = model
                for one in drawn[start : start + every]:
                    now += one.seconds
                    pair.step(one.aimed(model), now)


def test_a_command_that_fails_half_way_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command is first made to fail at its n-th statement: the state is as before, and nothing was published."""
    faults = Faults(monkeypatch)
    broken = 0

    def broken_first(engine: Engine, at: int) -> Run:
        def run(command: c.Command[Any], now: float) -> Any:
            nonlocal broken
            before = engine.dump(now=now)
            try:
                with faults.at(at):
                    return engine.run(command, now=now)
            except Broken:
                broken += 1
                assert plain(engine.dump(now=now)) == plain(before), command
            return engine.run(command, now=now)

        return run

    @patient(EXAMPLES // 2)
    @given(steps, st.integers(0, 30))
    def check(drawn: Steps, at: int) -> None:
        with fresh() as pair:
            hold(pair, drawn, broken_first(pair.engine, at))

    check()
    assert broken > 0


@pytest.mark.parametrize("kind", ["memory", *SERVERS])
@patient(EXAMPLES // 2)
@given(drawn=steps)
def test_a_command_repeated_with_its_token_does_nothing_more(kind: str, drawn: Steps) -> None:
    with fresh("sqlite://" if kind == "memory" else SHARED.url(kind)) as pair:

        def run_twice(command: c.Command[Any], now: float) -> Any:
            token = uuid.uuid4().hex
            reply = pair.engine.run(command, now=now, token=token)
            if not command.reads:
                assert pair.engine.run(command, now=now + 1, token=token) == reply
            return reply

        hold(pair, drawn, run_twice)


@pytest.mark.parametrize("kind", ["memory", *SERVERS])
@patient(EXAMPLES // 2)
@given(batches=st.lists(steps, max_size=5))
def test_many_commands_in_one_call_are_as_one_after_another(kind: str, batches: list[Steps]) -> None:
    with fresh("sqlite://" if kind == "memory" else SHARED.url(kind)) as pair:
        now = START
        for batch in batches:
            now += batch[0].seconds
            commands = [one.command for one in batch]
            expected = [reply_of(pair.model.run, command, now) for command in commands]
            found = [_reply(outcome) for outcome in pair.engine.run_many(commands, now=now)]
            for command, one, other in zip(commands, found, expected, strict=True):
                assert same_reply(one, other), (command, one, other)
            compare_states(pair.engine.dump(now=now), pair.model.dump(now), commands)


@patient(EXAMPLES // 4)
@given(steps, st.lists(st.booleans(), min_size=40, max_size=40))
def test_two_processes_on_one_file_are_one_queue(drawn: Steps, others: list[bool]) -> None:
    with file_url() as url, fresh(url) as pair, Partner(url) as partner:
        now = START
        for one, other in zip(drawn, others, strict=False):
            now += one.seconds
            pair.step(one.aimed(pair.model), now, partner.run if other else None)


def test_the_model_knows_every_command() -> None:
    assert all(hasattr(Naive, "do_" + name.replace(".", "_")) for name in VOCABULARY)


def _reply(outcome: Outcome) -> Any:
    return outcome.reply if outcome.error is None else type(outcome.error)
