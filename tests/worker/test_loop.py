"""What the worker's loop decides, event by event."""

from __future__ import annotations

import math

import pytest

from stanchion.commands import Complete, Pop, Timeout
from stanchion.engine.contract import Outcome
from stanchion.errors import DiskFull, JobNotRunning, LockLost, OutcomeUnknown, StoreBusy
from stanchion.records import Job
from stanchion.states import State
from stanchion.worker.lanes import Lane
from stanchion.worker.lease import Lease
from stanchion.worker.loop import TROUBLE_SECONDS, End, Exchange, LanePop, Leave, Loop, Settlement, Sleep, Step

BUSY = StoreBusy(path="x", seconds=1.0, holder="")
UNKNOWN = OutcomeUnknown(command="complete", problem="lost")
FULL = DiskFull(path="x")


def job(jid: str, queue: str = "q") -> Job:
    return Job(jid, "k", "{}", queue, State.RUNNING, "w", expires=60.0, popped_at=0.0, attempt=1)


def settling(lease: Lease) -> Complete:
    return Complete(lease.job.jid, "w", lease.job.queue, attempt=1)


class Told:
    """A loop with what a test tells it."""

    def __init__(self, *queues: str, slots: int = 2, burst: bool = False) -> None:
        self.loop = Loop("w", (Lane("thread", slots, queues or ("q",)),), 30.0, burst=burst)

    def answer(self, *jids: str, error: BaseException | None = None, now: float = 0.0) -> list[Lease]:
        """Answer the exchange that the loop wants: settlements succeed, the pop gives these jobs or this error."""
        exchange = self.loop.step(now)
        assert isinstance(exchange, Exchange)
        answers = [Outcome(reply="complete") for _ in exchange.settlements]
        for _, pop in exchange.pops:
            queue = pop.queue
            answers.append(Outcome(error=error) if error else Outcome(reply=tuple(job(jid, queue) for jid in jids)))
        return [lease for _, lease in self.loop.answered(exchange, answers, now, now).started]

    def finish(self, lease: Lease) -> Settlement:
        command = settling(lease)
        self.loop.finished(lease, (command,))
        return Settlement(command, lease)

    def step(self, now: float = 0.0) -> Step:
        return self.loop.step(now)


def test_queues_are_popped_in_their_order_up_to_the_room_there_is() -> None:
    told = Told("high", "low", slots=3)
    assert told.step() == Exchange((), (LanePop(0, Pop("high", "w", 3)),))
    told.answer("a")
    assert told.step() == Exchange((), (LanePop(0, Pop("low", "w", 2)),))
    told.answer("b", "c")
    assert told.step() == Sleep(math.inf)
    assert (told.loop.done, told.loop.running) == (3, 3)


def test_with_room_and_nothing_to_do_it_watches() -> None:
    told = Told("high", "low")
    told.answer()
    told.answer()
    assert told.step() == Sleep(math.inf, watch=(0,))
    told.loop.look()
    assert told.step() == Exchange((), (LanePop(0, Pop("high", "w", 2)),))


def test_settling_and_popping_share_a_round_trip_from_the_first_queue_on() -> None:
    told = Told("high", "low", slots=1)
    told.answer()
    (lease,) = told.answer("a")
    done = told.finish(lease)
    step = told.step()
    assert step == Exchange((done,), (LanePop(0, Pop("high", "w", 1)),))
    assert isinstance(step, Exchange)
    assert step.commands == [done.command, Pop("high", "w", 1)]
    told.answer()
    assert told.step() == Exchange((), (LanePop(0, Pop("low", "w", 1)),))


def test_what_its_code_settled_is_not_settled_again() -> None:
    told = Told(slots=1)
    (lease,) = told.answer("a")
    told.loop.finished(lease, ())
    assert told.step() == Exchange((), (LanePop(0, Pop("q", "w", 1)),))


def test_a_full_pop_is_followed_by_no_other() -> None:
    told = Told()
    told.answer("a", "b")
    assert told.step() == Sleep(math.inf)


def test_a_burst_ends_when_all_is_empty_and_settled() -> None:
    told = Told("high", "low", burst=True)
    told.answer()
    (lease,) = told.answer("a")
    assert told.step() == Sleep(math.inf, watch=(0,))
    told.finish(lease)
    told.answer()
    told.answer()
    assert told.step() == End()


@pytest.mark.parametrize("error", [BUSY, UNKNOWN, FULL], ids=lambda error: type(error).__name__)
def test_a_settlement_that_may_succeed_later_is_repeated_after_a_pause_while_the_lock_lasts(error: Exception) -> None:
    told = Told(slots=1)
    (lease,) = told.answer("a")
    done = told.finish(lease)
    exchange = told.step()
    assert isinstance(exchange, Exchange)
    heard = told.loop.answered(exchange, [Outcome(error=error), Outcome(reply=())], 1.0, 1.0)
    assert (heard.started, heard.refused, heard.trouble) == ([], [], error)
    assert told.step(1.0) == Sleep(1.0 + TROUBLE_SECONDS)
    assert told.loop.give_up(59.0) == []
    assert told.step(1.0 + TROUBLE_SECONDS) == Exchange((done,), ())
    assert told.loop.give_up(60.0) == [done]
    assert told.step(60.0) == Sleep(math.inf, watch=(0,))


def test_a_store_that_cannot_be_reached_is_tried_again_after_a_pause() -> None:
    told = Told(slots=1)
    (lease,) = told.answer("a")
    done = told.finish(lease)
    told.loop.unreachable(1.0)
    assert told.step(1.1) == Sleep(1.0 + TROUBLE_SECONDS)
    assert told.step(2.0) == Exchange((done,), (LanePop(0, Pop("q", "w", 1)),))


def test_a_pop_that_goes_wrong_is_told_and_repeated_after_a_pause() -> None:
    told = Told()
    exchange = told.step()
    assert isinstance(exchange, Exchange)
    error = RuntimeError("a fault in the engine")
    assert told.loop.answered(exchange, [Outcome(error=error)], 0.0, 0.0).trouble is error
    assert told.step(0.1) == Sleep(TROUBLE_SECONDS)
    assert told.step(1.0) == exchange


@pytest.mark.parametrize(
    "error", [LockLost(jid="a", worker="w", holder="v"), JobNotRunning(jid="a", state="complete")], ids=lambda e: e.code
)
def test_a_settlement_that_is_refused_is_told_and_given_up(error: Exception) -> None:
    told = Told(slots=1)
    (lease,) = told.answer("a")
    done = told.finish(lease)
    exchange = told.step()
    assert isinstance(exchange, Exchange)
    heard = told.loop.answered(exchange, [Outcome(error=error), Outcome(reply=())], 0.0, 0.0)
    assert (heard.refused, heard.trouble) == ([(done, error)], None)
    assert told.step() == Sleep(math.inf, watch=(0,))


def test_locks_are_measured_from_before_the_pop() -> None:
    told = Told()
    exchange = told.step()
    assert isinstance(exchange, Exchange)
    ((_, lease),) = told.loop.answered(exchange, [Outcome(reply=(job("a"),))], asked=10.0, now=14.0).started
    assert lease.ends == 70.0


def test_stopped_with_nothing_running_it_ends() -> None:
    told = Told()
    told.loop.stop(0.0)
    assert told.step() == End()


def test_a_stop_takes_no_more_jobs_and_settles_what_finishes() -> None:
    told = Told()
    (lease,) = told.answer("a")
    told.loop.stop(5.0)
    assert told.step(5.0) == Sleep(35.0)
    done = told.finish(lease)
    assert told.step(6.0) == Exchange((done,), ())
    told.answer(now=6.0)
    assert told.step(6.0) == End()


def test_a_stop_does_not_lose_a_settlement_that_must_be_repeated() -> None:
    told = Told()
    (lease,) = told.answer("a")
    done = told.finish(lease)
    told.loop.unreachable(5.0)
    told.loop.stop(5.0)
    assert told.step(5.0) == Sleep(5.0 + TROUBLE_SECONDS)
    assert told.step(5.0 + TROUBLE_SECONDS) == Exchange((done,), ())


@pytest.mark.parametrize(("stops", "now"), [(1, 35.0), (2, 5.0), (3, 5.0)])
def test_what_is_not_done_in_time_is_handed_back(stops: int, now: float) -> None:
    told = Told(slots=3)
    mine, lost, over = told.answer("mine", "lost", "over")
    lost.lost = "moved"
    done = told.finish(over)
    told.loop.unreachable(5.0)
    for _ in range(stops):
        told.loop.stop(5.0)
    leave = told.step(now)
    assert leave == Leave((done,), (mine,))
    assert isinstance(leave, Leave)
    assert leave.commands == [done.command, Timeout(("mine",))]
    told.loop.left()
    assert told.step(now) == End()


def test_a_lapsed_lock_is_not_handed_back_for_it_may_be_anothers() -> None:
    told = Told()
    (lease,) = told.answer("a")
    told.loop.stop(50.0)
    assert told.step(80.0) == Leave((), ())
    lease.renewed = 40.0
    assert told.step(80.0) == Leave((), (lease,))
