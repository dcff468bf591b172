"""The engine's clock, as a table: stored reading, clocks now, and what follows."""

from __future__ import annotations

import pytest

from stanchion.engine.sqlite.clock import Reading, Told, read_clocks, tell


@pytest.mark.parametrize(
    ("stored", "read", "told"),
    [
        pytest.param(Reading("b", 100, 1000), Reading("b", 100.5, 1000.5), Told(1000.5, 0, False), id="nothing special"),
        pytest.param(Reading("b", 100, 1000), Reading("b", 105, 1005), Told(1005, 0, True), id="time to store it again"),
        pytest.param(Reading("b", 100, 1000), Reading("b", 105, 1005.8), Told(1005.8, 0, True), id="the wall drifts ahead"),
        pytest.param(Reading("b", 100, 1000), Reading("b", 105, 4605), Told(4605, 3600, True), id="stepped an hour on"),
        pytest.param(Reading("b", 100, 1000), Reading("b", 105, -6195), Told(1005, 0, True), id="stepped two hours back"),
        pytest.param(
            Reading("b", 100, 1000), Reading("b", 100.2, 1600.2), Told(1600.2, 600, True), id="suspended ten minutes"
        ),
        pytest.param(Reading("b", 100, 1000), Reading("c", 5, 9000), Told(9000, 0, True), id="booted anew"),
        pytest.param(Reading("b", 100, 1000), Reading("c", 5, 10), Told(1000, 0, True), id="booted with a wrong clock"),
        pytest.param(Reading("", 0, 0), Reading("b", 5, 9000), Told(9000, 0, True), id="first time ever"),
    ],
)
def test_what_time_it_is(stored: Reading, read: Reading, told: Told) -> None:
    found = tell(stored, read)
    assert (found.now, found.refresh) == (told.now, told.refresh)
    assert found.shift == pytest.approx(told.shift)


def test_time_never_goes_back_however_the_wall_jumps() -> None:
    stored, last = Reading("b", 0.0, 1000.0), 1000.0
    for n, wall in enumerate([1000, 5000, 10, 4000, 9000, 1, 1, 20000], 1):
        told = tell(stored, Reading("b", n * 0.1, float(wall)))
        assert told.now >= last
        last = told.now
        if told.refresh:
            stored = Reading("b", n * 0.1, told.now)


def test_the_machines_clocks_are_read() -> None:
    first, second = read_clocks(), read_clocks()
    assert first.boot_id == second.boot_id
    assert second.monotonic >= first.monotonic
