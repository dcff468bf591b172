"""Random commands from the whole vocabulary: every engine answers as the naive model does, and is in the same state."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stanchion import commands as c
from stanchion import errors
from stanchion.client.open import open_engine
from stanchion.commands import VOCABULARY
from stanchion.engine.sqlite.transaction import Transaction
from tests.model.comparing import Pair, plain, reply_of
from tests.model.drawing import Step, commands, steps
from tests.model.naive import Naive

EXAMPLES = int(os.environ.get("STANCHION_EXAMPLES", "60"))
patient = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

Steps = list[Step]


@contextmanager
def fresh(kind: str) -> Iterator[Pair]:
    """An empty engine, and a model beside it."""
    with tempfile.TemporaryDirectory() as folder:
        engine = open_engine("sqlite://" if kind == "memory" else f"sqlite:///{folder}/jobs.db?durability=fast")
        pair = Pair(engine)
        try:
            yield pair
        finally:
            pair.close()
            engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_an_engine_does_what_the_model_does(kind: str) -> None:
    @patient
    @given(steps)
    def run(drawn: Steps) -> None:
        with fresh(kind) as pair:
            now = 1000.0
            for one in drawn:
                now += one.seconds
                pair.step(one.aimed(pair.model), now)

    run()


class Broken(Exception):
    """What the test throws into the middle of a command."""


@pytest.mark.slow
def test_a_command_that_fails_half_way_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of a drawn sequence is first made to fail at its n-th statement; the state must be as before."""
    left = itertools.count()
    original = Transaction.run

    def failing(self: Transaction, sql: str, *args: Any) -> int:
        if next(left) == failing_at[0]:
            raise Broken
        return original(self, sql, *args)

    failing_at = [-1]
    monkeypatch.setattr(Transaction, "run", failing)

    @settings(patient, max_examples=max(10, EXAMPLES // 3))
    @given(steps, st.integers(0, 8))
    def run(drawn: Steps, at: int) -> None:
        nonlocal left
        with fresh("memory") as pair:
            now = 1000.0
            for one in drawn:
                command, now = one.aimed(pair.model), now + one.seconds
                before = plain(pair.engine.dump(now=now))
                left, failing_at[0] = itertools.count(), at
                try:
                    found = reply_of(pair.engine.run, command, now)
                except Broken:
                    failing_at[0] = -1
                    assert plain(pair.engine.dump(now=now)) == before, command
                    pair.step(command, now)
                else:
                    failing_at[0] = -1
                    pair.step(command, now, run=lambda command, now, found=found: found)

    run()


class Partner:
    """Another process on the same file, told what to run line by line."""

    def __init__(self, url: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.model.partner", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, command: c.Command[Any], now: float) -> Any:
        """The reply in plain values, or the class of the error."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = msgspec.json.encode([command.name, command, now]).decode()
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        kind, answer = msgspec.json.decode(self._process.stdout.readline())
        return answer if kind == "reply" else getattr(errors, answer)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(10) == 0
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.mark.slow
def test_two_processes_on_one_file_are_one_queue() -> None:
    @settings(patient, max_examples=max(10, EXAMPLES // 4))
    @given(st.lists(st.tuples(commands, st.sampled_from([0.0, 1.0, 61.0]), st.booleans()), max_size=40))
    def run(drawn: list[tuple[c.Command[Any], float, bool]]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{folder}/jobs.db?durability=fast"
            engine, partner = open_engine(url), Partner(url)
            pair, now = Pair(engine), 1000.0
            try:
                for command, seconds, other in drawn:
                    now += seconds
                    pair.step(command, now, run=partner.run if other else None)
            finally:
                pair.close()
                partner.close()
                engine.close()

    run()


def test_the_model_knows_every_command() -> None:
    assert all(hasattr(Naive, "do_" + name.replace(".", "_")) for name in VOCABULARY)
