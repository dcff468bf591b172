"""Drawing commands: every one of the vocabulary, its arguments by their kinds, from small pools so that they meet.

Most commands that settle a job would be refused, since it runs nowhere or elsewhere: half of them are aimed at one that runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from hypothesis import strategies as st

from stanchion import commands as c
from stanchion.commands import VOCABULARY, kinds_of
from stanchion.commands import kinds as k
from tests.model.naive import Naive

POOLS: dict[str, list[str]] = {
    "job id": ["a", "b", "c", "d", "r-1", "r-2"],
    "queue": ["q", "p"],
    "worker": ["w", "v"],
    "klass": ["k", "l"],
    "tag": ["t", "u"],
    "failure group": ["g", "h"],
    "throttle": ["th", "ti"],
    "configuration option": ["heartbeat"],
}

CONFIG = st.sampled_from(
    [
        ("heartbeat", 30),
        ("q-heartbeat", 5),
        ("grace-period", 0),
        ("grace-period", 3),
        ("q-max-concurrency", 1),
        ("p-max-concurrency", 2),
        ("jobs-history", 50),
        ("jobs-history-count", 1),
        ("max-job-history", 3),
        ("max-job-history", 0),
        ("max-worker-age", 40),
        ("stats-history", 2),
        ("histogram-history", 1),
        ("colour", "red"),
    ]
)

TIMES = st.sampled_from([0.0, 0.0, 0.25, 1.0, 4.0, 11.0, 31.0, 61.0, 71.0, 600.0, 86400.0, 8 * 86400.0])

NUMBERS: dict[str, st.SearchStrategy[float]] = {
    "priority": st.sampled_from([0.0, 1.0, -1.0, 2.5]),
    "delay": st.sampled_from([0.0, 0.0, 5.0, 62.0]),
    "interval": st.sampled_from([0.1, 0.5, 10.0, 100.0, 100.0]),
    "offset": st.sampled_from([0.0, 5.0, -20.0]),
    "expiration": st.sampled_from([0.0, 0.0, 20.0]),
    "date": st.sampled_from([0.0, 86400.0]),
}

WHOLES: dict[str, st.SearchStrategy[int]] = {
    "retries": st.sampled_from([-1, 0, 1, 2]),
    "count": st.sampled_from([0, 1, 1, 2, 5]),
    "maximum": st.sampled_from([0, 1, 1, 2]),
    "attempt": st.sampled_from([1, 2]),
    "backlog": st.sampled_from([0, 1, 3]),
    "offset": st.sampled_from([0, 1]),
    "start": st.sampled_from([0, 1]),
    "limit": st.sampled_from([1, 25]),
}

JSON = st.sampled_from(["{}", '{"x": 1}', "[1,  2]"])
OBJECTS = st.sampled_from(["{}", '{"note": 1}', "[]"])


def _kind(field: str, kind: k.Kind) -> st.SearchStrategy[Any]:
    if isinstance(kind, k.Names):
        return st.lists(st.sampled_from(POOLS[kind.what]), max_size=2, unique=True)
    if isinstance(kind, k.Name):
        return st.sampled_from(POOLS[kind.what] + ([""] if kind.may_be_empty else []))
    if isinstance(kind, k.Json):
        return JSON
    if isinstance(kind, k.Text):
        return st.sampled_from(["m", "note"])
    if isinstance(kind, k.Number):
        return NUMBERS[field]
    if isinstance(kind, k.Whole):
        return WHOLES[field]
    if isinstance(kind, k.Flag):
        return st.booleans()
    assert isinstance(kind, k.OneOf), field
    return st.sampled_from(kind.words)


def _arguments(command: type[c.Command[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    drawn = {}
    for field, kind in kinds_of(command).items():
        strategy = _kind(field, kind)
        drawn[field] = st.none() | strategy if kind.optional else strategy
    return st.fixed_dictionaries(drawn)


@st.composite
def _make(draw: st.DrawFn, command: type[c.Command[Any]]) -> c.Command[Any]:
    arguments = draw(_arguments(command))
    if command is c.Complete and arguments["next"] is None:
        arguments.update(delay=0.0, depends=[])
    if command is c.ListJobs:
        arguments["queue"] = None if arguments["state"] == "complete" else draw(st.sampled_from(POOLS["queue"]))
    for own in ("depends", "on"):
        if own in arguments:
            arguments[own] = [jid for jid in arguments[own] if jid != arguments["jid"]]
    if command is c.Log:
        arguments["data"] = draw(st.none() | OBJECTS)
    return command(**arguments)


def _strategy(command: type[c.Command[Any]]) -> st.SearchStrategy[c.Command[Any]]:
    if command is c.SetConfig:
        return CONFIG.map(lambda pair: c.SetConfig(*pair))
    if command in (c.UnsetConfig, c.GetConfig):
        return CONFIG.map(lambda pair: command(pair[0]))  # type: ignore[call-arg]
    if command is c.PutMany:
        return st.lists(_make(c.Put), max_size=3).map(c.PutMany)
    if command is c.CompleteMany:
        return st.lists(_make(c.Complete), max_size=3).map(c.CompleteMany)
    return _make(command)


WRITERS = [command for command in VOCABULARY.values() if not command.reads]
READERS = [command for command in VOCABULARY.values() if command.reads]
OFTEN = [c.Put, c.Put, c.Put, c.Pop, c.Pop, c.Pop, c.Complete, c.Complete, c.Fail, c.Retry, c.Heartbeat, c.SetThrottle]

commands: st.SearchStrategy[c.Command[Any]] = st.one_of(
    st.sampled_from(OFTEN).flatmap(_strategy),
    st.sampled_from(OFTEN).flatmap(_strategy),
    st.sampled_from(WRITERS).flatmap(_strategy),
    st.sampled_from(READERS).flatmap(_strategy),
)


class Step(NamedTuple):
    """A command, how many seconds after the one before, and which of the running jobs it is aimed at, if it can be."""

    command: c.Command[Any]
    seconds: float
    aim: int | None

    def aimed(self, model: Naive) -> c.Command[Any]:
        """The command as it is to be run in this state."""
        running = [job for job in model.jobs.values() if job.state == "running"]
        if self.aim is None or not running or not hasattr(self.command, "attempt"):
            return self.command
        job = running[self.aim % len(running)]
        changes: dict[str, Any] = {"jid": job.jid, "worker": job.worker, "attempt": job.attempt}
        if isinstance(self.command, c.Complete):
            changes |= {"queue": job.queue, "depends": [jid for jid in self.command.depends if jid != job.jid]}
        return replace(self.command, **changes)


aims = st.none() | st.integers(0, 3)
steps = st.lists(st.builds(Step, commands, TIMES, aims), min_size=1, max_size=40)
