"""Breaking into code on another thread, at any moment of its life."""

from __future__ import annotations

import threading

from stanchion.worker.active import LeaseLost
from stanchion.worker.interrupt import Interruptible


def test_code_is_broken_into_and_its_thread_goes_on() -> None:
    code, started, results = Interruptible(), threading.Event(), []

    def spin() -> str:
        started.set()
        try:
            while True:
                pass
        except LeaseLost:
            return "told"

    def run() -> None:
        results.append(code.run(spin, repr))
        results.append("went on")

    thread = threading.Thread(target=run)
    thread.start()
    assert started.wait(10)
    code.interrupt()
    code.interrupt()
    thread.join(10)
    assert results == ["told", "went on"]


def test_code_that_is_over_or_has_not_begun_is_not_broken_into() -> None:
    code = Interruptible()
    code.interrupt()
    assert code.run(lambda: 1, lambda error: 2) == 1
    code.interrupt()


def test_whenever_it_comes_nothing_is_raised_outside_of_the_code() -> None:
    """Two threads race, many times: one runs code that is over at once, the other breaks into it."""
    begin, codes, ends = threading.Barrier(2), [Interruptible() for _ in range(2000)], []

    def run() -> None:
        for code in codes:
            begin.wait()
            code.run(lambda: 1, lambda error: 2)
        ends.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    for code in codes:
        begin.wait()
        code.interrupt()
    thread.join(20)
    assert ends == [True]
