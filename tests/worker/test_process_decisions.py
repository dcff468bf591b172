"""What is decided about lanes, children and crashes, without a process."""

from __future__ import annotations

import math
import os
from typing import Any

import pytest

from stanchion import Client, Constant
from stanchion.client.data import RawJSON
from stanchion.commands import Complete, Fail, Get, Log, Put, PutMany, Retry
from stanchion.errors import BadArgument, LockLost
from stanchion.records import HistoryEntry, Job
from stanchion.states import State
from stanchion.worker.active import LeaseLost
from stanchion.worker.lanes import ASYNC_SLOTS, Lane, lanes_of
from stanchion.worker.lease import Lease
from stanchion.worker.outcome import Crashed, Raised, Returned, Settled, Unencodable, crashes, settle
from stanchion.worker.process import wire
from stanchion.worker.process.obituary import cause_of, outcome_of_death
from stanchion.worker.process.patience import Kill, Leave, Patience, Tell
from stanchion.worker.process.wire import Death

SEGFAULT, KILLED, EXIT = 11, 9, 3 << 8


def job(*history: HistoryEntry, **fields: Any) -> Job:
    return Job("a", "k", "{}", "q", State.RUNNING, "w", attempt=3, history=history, **fields)


def entry(what: str, attempt: int | None = None) -> HistoryEntry:
    return HistoryEntry(what, 0.0, {} if attempt is None else {"attempt": attempt})


@pytest.mark.parametrize(
    ("queues", "lanes"),
    [
        (["a", "b"], (Lane("thread", 8, ("a", "b")),)),
        (["a=async:5"], (Lane("async", 5, ("a",)),)),
        (["a=async"], (Lane("async", ASYNC_SLOTS, ("a",)),)),
        (["a=process"], (Lane("process", os.cpu_count() or 1, ("a",)),)),
        (["a=thread:1", "b", "c=process:2", "d"],
         (Lane("thread", 1, ("a",)), Lane("thread", 8, ("b", "d")), Lane("process", 2, ("c",)))),
        (["a=b=process:2"], (Lane("process", 2, ("a=b",)),)),
        (["a=b", "=async", "a=process:x"], (Lane("thread", 8, ("a=b", "=async", "a=process:x")),)),
    ],
)  # fmt: skip
def test_lanes(queues: list[str], lanes: tuple[Lane, ...]) -> None:
    assert lanes_of(queues, 8) == lanes


@pytest.mark.parametrize(("queues", "threads"), [([], 8), ("abc", 8), (["a"], 0), (["a=process:0"], 8)])
def test_lanes_that_cannot_be(queues: Any, threads: int) -> None:
    with pytest.raises(ValueError, match="worker needs"):
        lanes_of(queues, threads)


def lease(**fields: Any) -> Lease:
    return Lease(job(), 0.0, 60.0, **fields)


def test_patience_has_no_end_while_all_is_well() -> None:
    assert Patience(lease()).step(1e9) == Leave(math.inf)
    assert Patience(lease(deadline=5.0)).step(4.0) == Leave(5.0)


def test_a_late_job_is_told_and_killed_after_the_grace() -> None:
    patience = Patience(lease(deadline=5.0), grace=2.0)
    assert [patience.step(5.0), patience.step(5.1), patience.step(7.0)] == [Tell("late"), Leave(7.0), Kill("late")]


def test_a_lost_lock_is_told_even_to_a_late_job_and_buys_no_time() -> None:
    patience = Patience(lease(deadline=5.0), grace=2.0)
    assert patience.step(5.0) == Tell("late")
    patience.lease.lost = "moved"
    assert [patience.step(6.0), patience.step(6.5), patience.step(7.0)] == [Tell("lost"), Leave(7.0), Kill("lost")]


@pytest.mark.parametrize(
    ("status", "out_of_memory", "cause"),
    [
        (SEGFAULT, False, "SIGSEGV"),
        (SEGFAULT, True, "SIGSEGV"),
        (KILLED, False, "SIGKILL"),
        (KILLED, True, "oom"),
        (EXIT, False, "exit 3"),
        (63, False, "signal 63"),
        (None, False, "unknown"),
    ],
)
def test_causes(status: int | None, out_of_memory: bool, cause: str) -> None:
    death = None if status is None else Death(status, 0)
    assert cause_of(death, out_of_memory=out_of_memory) == cause


def test_what_a_death_means_for_the_job() -> None:
    death = Death(KILLED, 7)
    assert outcome_of_death(death, None, 1.0, "said", out_of_memory=False) == Crashed("SIGKILL", 7, "said")
    assert outcome_of_death(death, "lost", 1.0, "said", out_of_memory=False) == Settled()
    late = outcome_of_death(death, "late", 1.0, "said", out_of_memory=False)
    assert isinstance(late, Raised)
    assert (late.name, "1.0 s" in late.message, late.message.endswith("said")) == ("TimeoutError", True, True)


@pytest.mark.parametrize(
    ("history", "count"),
    [
        ((), 0),
        ((entry("put"), entry("killed-its-worker", 1), entry("killed-its-worker", 2)), 2),
        ((entry("killed-its-worker", 1), entry("killed-its-worker", 1)), 1),
        ((entry("killed-its-worker", 1), entry("put"), entry("killed-its-worker", 2)), 1),
    ],
)
def test_crashes_are_counted_by_attempts_since_the_job_was_put(history: tuple[HistoryEntry, ...], count: int) -> None:
    assert crashes(job(*history)) == count


def test_a_crash_is_told_and_retried_and_the_third_puts_the_job_aside() -> None:
    crash = Crashed("SIGSEGV", 2**20, "stack")
    log, retry = settle(job(entry("killed-its-worker", 1)), crash, Constant(4.0))
    assert isinstance(log, Log)
    assert log == Log("a", "killed-its-worker", '{"attempt":3,"cause":"SIGSEGV","peak":1048576,"output":"stack"}')
    assert isinstance(retry, Retry)
    assert (retry.group, retry.delay, retry.attempt) == ("killed-its-worker", 4.0, 3)
    _, fail = settle(job(entry("killed-its-worker", 1), entry("killed-its-worker", 2), remaining=9), crash, Constant(0))
    assert isinstance(fail, Fail)
    assert fail.group == "killed-its-worker"


COMMANDS = [
    Complete("a", "w", "q", depends=("x",), next="z"),
    PutMany((Put("q", "j", "k", "{}"),)),
    Log("a", "m", '{"x":1}'),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_commands_travel(command: Any) -> None:
    sent = wire.decode(wire.encode(wire.call(1, command, 2.0)))
    assert isinstance(sent, wire.Call)
    assert wire.command_of(sent) == command


def test_a_wrong_command_is_refused_where_it_arrives() -> None:
    sent = wire.Call(1, "log", {"jid": "", "message": "m", "data": None}, None)
    with pytest.raises((BadArgument, ValueError)):
        wire.command_of(sent)


def test_replies_and_errors_travel() -> None:
    with Client("sqlite://") as client:
        jid = client.queues["q"].put("k", jid="a")
        reply = client.run(Get(jid))
    sent = wire.decode(wire.encode(wire.Answer(1, reply)))
    assert isinstance(sent, wire.Answer)
    assert wire.reply_of(sent, Get("a")) == reply
    for error, kind in (
        (LockLost(jid="a", worker="w", holder="v"), LockLost),
        (LeaseLost("moved", jid="a", worker="w"), LockLost),
        (TimeoutError("late"), TimeoutError),
        (KeyError("odd"), RuntimeError),
    ):
        sent = wire.decode(wire.encode(wire.refusal(1, error)))
        assert isinstance(sent, wire.Answer)
        with pytest.raises(kind):
            wire.reply_of(sent, Get("a"))


@pytest.mark.parametrize(
    "outcome",
    [Returned(None), Returned(RawJSON("[1]")), Raised("E", "m"), Unencodable("why"), Settled()],
    ids=lambda outcome: type(outcome).__name__,
)
def test_outcomes_travel(outcome: Any) -> None:
    sent = wire.decode(wire.encode(wire.done(outcome, 5)))
    assert isinstance(sent, wire.Done)
    assert (wire.outcome_of(sent), sent.memory) == (outcome, 5)


def test_messages_come_whole_however_the_stream_is_cut() -> None:
    messages = [wire.Ready(1), wire.Done("returned", text="x" * 300), wire.Interrupt(None)]
    stream = b"".join(len(data).to_bytes(4, "big") + data for data in map(wire.encode, messages))
    frames = wire.Frames()
    assert [message for index in range(len(stream)) for message in frames.feed(stream[index : index + 1])] == messages
    assert wire.Frames().feed(stream) == messages
