"""Random commands from the whole vocabulary: every engine answers as the naive model does, and is in the same state."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stanchion import commands as c
from stanchion.client.open import open_engine
from stanchion.commands import VOCABULARY
from stanchion.engine.contract import Engine
from stanchion.engine.sqlite.transaction import Transaction
from tests.model.comparing import plain, reply_of, step
from tests.model.drawing import commands, steps
from tests.model.naive import Naive

EXAMPLES = int(os.environ.get("STANCHION_EXAMPLES", "60"))
patient = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

Steps = list[tuple[c.Command[Any], float]]


@contextmanager
def fresh(kind: str) -> Iterator[Engine]:
    """An empty engine."""
    with tempfile.TemporaryDirectory() as folder:
        url = "sqlite://" if kind == "memory" else f"sqlite:///{folder}/jobs.db?durability=fast"
        engine = open_engine(url)
        try:
            yield engine
        finally:
            engine.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_an_engine_does_what_the_model_does(kind: str) -> None:
    @patient
    @given(steps)
    def run(drawn: Steps) -> None:
        with fresh(kind) as engine:
            model, now = Naive(), 1000.0
            for command, seconds in drawn:
                now += seconds
                step(engine, model, command, now)

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
        with fresh("memory") as engine:
            model, now = Naive(), 1000.0
            for command, seconds in drawn:
                now += seconds
                before = plain(engine.dump(now=now))
                left, failing_at[0] = itertools.count(), at
                try:
                    engine.run(command, now=now)
                except Broken:
                    assert plain(engine.dump(now=now)) == before, command
                    failing_at[0] = -1
                    step(engine, model, command, now)
                except Exception:  # noqa: BLE001 - the model tells below if that is right
                    failing_at[0] = -1
                    assert isinstance(reply_of(model.run, command, now), type)
                else:
                    failing_at[0] = -1
                    reply_of(model.run, command, now)

    run()


class Partner:
    """Another process on the same file, told what to run line by line."""

    def __init__(self, url: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.model.partner", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, command: c.Command[Any], now: float) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = msgspec.json.encode([command.name, command, now]).decode()
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._process.stdout.readline())

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
        path = Path(tempfile.mkdtemp()) / "jobs.db"
        url = f"sqlite:///{path}?durability=fast"
        engine, partner = open_engine(url), Partner(url)
        model, now = Naive(), 1000.0
        try:
            for command, seconds, other in drawn:
                now += seconds
                if not other:
                    step(engine, model, command, now)
                    continue
                expected = reply_of(model.run, command, now)
                found = partner.run(command, now)
                wanted = ["error", expected.__name__] if isinstance(expected, type) else ["reply", plain(expected)]
                assert plain(found) == wanted, command
                assert plain(engine.dump(now=now).jobs) == plain(model.dump(now).jobs)
        finally:
            partner.close()
            engine.close()

    run()


def test_the_model_knows_every_command() -> None:
    assert all(hasattr(Naive, "do_" + name.replace(".", "_")) for name in VOCABULARY)
