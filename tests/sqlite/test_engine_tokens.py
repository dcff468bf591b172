"""Request tokens: a command that is sent again after a lost reply does nothing more, and answers as the first did."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import commands as c
from stanchion.engine.sqlite.engine import SQLiteEngine
from stanchion.errors import BadArgument, JobNotFound, TokenReused

NOW = 1_700_000_000.0


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[SQLiteEngine]:
    with SQLiteEngine(f"sqlite:///{tmp_path / 'jobs.db'}") as engine:
        yield engine


def test_the_second_run_changes_nothing(engine: SQLiteEngine) -> None:
    put = c.Put("q", "a", "K")
    assert engine.run(put, now=NOW, token="t") == "a"
    engine.run(c.Cancel(("a",)), now=NOW)
    assert engine.run(put, now=NOW, token="t") == "a"
    assert engine.run(c.Get("a"), now=NOW) is None


def test_a_repeated_pop_gives_the_same_jobs_whole(engine: SQLiteEngine) -> None:
    data = '{"n": 12345678901234567890123, "list": [], "text":"é"}'
    engine.run(c.Put("q", "a", "K", data, tags=("x",), priority=2, delay=0.5), now=NOW)
    engine.run(c.Log("a", "noted", data), now=NOW)
    pop = c.Pop("q", "worker", 5)
    first = engine.run(pop, now=NOW + 1, token="t")
    assert [job.data for job in first] == [data]
    assert first[0].history[1].more["n"] == 12345678901234567890123
    engine.run(c.Put("q", "b", "K"), now=NOW + 1)
    assert engine.run(pop, now=NOW + 2, token="t") == first
    assert engine.run(c.Length("q"), now=NOW + 2) == 2


REPLIES: list[tuple[c.Command[Any], Any]] = [
    (c.Put("q", "b", "K"), "b"),
    (c.PutMany([c.Put("q", "b", "K"), c.Put("q", "d", "K")]), ("b", "d")),
    (c.Complete("a", "worker", "q"), "complete"),
    (c.CompleteMany([c.Complete("a", "worker", "q", next="q")]), ("waiting",)),
    (c.Retry("a", "q", "worker"), 4),
    (c.Fail("a", "worker", "oops", "it broke"), "a"),
    (c.Heartbeat("a", "worker"), NOW + 60),
    (c.Unfail("q", "oops"), 0),
    (c.Cancel(("a", "b")), ("a",)),
    (c.Timeout(("a",)), None),
    (c.AddTags("a", ("x",)), ("x",)),
    (c.Unrecur("nothing"), True),
    (c.SetPriority("a", 3), 3),
]


@pytest.mark.parametrize(("command", "reply"), REPLIES, ids=[command.name for command, _ in REPLIES])
def test_every_kind_of_reply_comes_back_as_it_was(engine: SQLiteEngine, command: c.Command[Any], reply: Any) -> None:
    engine.run(c.Put("q", "a", "K"), now=NOW)
    assert len(engine.run(c.Pop("q", "worker"), now=NOW)) == 1
    before = engine.run(command, now=NOW, token="t")
    state = engine.dump(now=NOW)
    assert before == reply
    assert engine.run(command, now=NOW, token="t") == reply
    assert engine.dump(now=NOW) == state


def test_a_refused_command_leaves_its_token_free(engine: SQLiteEngine) -> None:
    log = c.Log("a", "noted")
    with pytest.raises(JobNotFound):
        engine.run(log, now=NOW, token="t")
    engine.run(c.Put("q", "a", "K"), now=NOW)
    assert engine.run(log, now=NOW, token="t") is None
    assert len(engine.dump(now=NOW).jobs["a"].history) == 2


def test_a_token_belongs_to_one_command(engine: SQLiteEngine) -> None:
    engine.run(c.Put("q", "a", "K"), now=NOW, token="t")
    for other in (c.Put("q", "b", "K"), c.Put("q", "a", "K", "[]"), c.Cancel(("a",))):
        with pytest.raises(TokenReused) as refused:
            engine.run(other, now=NOW, token="t")
        assert refused.value.details == {"token": "t", "earlier": "put"}


def test_a_reader_may_have_a_token_and_needs_none(engine: SQLiteEngine) -> None:
    assert engine.run(c.Get("a"), now=NOW, token="t") is None
    engine.run(c.Put("q", "a", "K"), now=NOW, token="t")
    assert engine.run(c.Get("a"), now=NOW, token="t") is not None


@pytest.mark.parametrize("token", ["", "\0", "\ud800", "x" * 1025])
def test_a_token_is_a_name(engine: SQLiteEngine, token: str) -> None:
    with pytest.raises(BadArgument) as refused:
        engine.run(c.Put("q", "a", "K"), now=NOW, token=token)
    assert refused.value.details["argument"] == "token"


def test_a_token_outlives_the_engine_and_is_forgotten_after_a_day(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'jobs.db'}"
    with SQLiteEngine(url) as engine:
        engine.run(c.Put("q", "a", "K"), now=NOW, token="t")
    with SQLiteEngine(url) as engine:
        engine.run(c.Pop("q", "worker"), now=NOW + 86400)
        with pytest.raises(TokenReused):
            engine.run(c.Put("q", "b", "K"), now=NOW + 86400, token="t")
        engine.run(c.Pop("q", "worker"), now=NOW + 86401)
        assert engine.run(c.Put("q", "b", "K"), now=NOW + 86401, token="t") == "b"
