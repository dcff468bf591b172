"""The pure rules in Lua, run by a real server's Lua on the same golden vectors as those in Python."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from stanchion.rules.config import OPTIONS, QUEUE_OPTIONS
from stanchion.rules.moments import Moments
from stanchion.rules.recurrence import free_number
from tests.servers import SHARED, binaries
from tests.unit.rules.golden import cases

LUA = files("stanchion.engine.redis") / "lua"

TEXT = """
local module = (function()
%s
end)()
local found = { (function(...) %s end)(unpack(ARGV)) }
for index, value in ipairs(found) do
  found[index] = type(value) == 'number' and string.format('%%.17g', value) or value
end
return found
"""


@pytest.fixture(scope="module", params=sorted(binaries()))
def server(request: pytest.FixtureRequest) -> Iterator[Any]:
    with SHARED.get(request.param).client() as client:
        yield client
    SHARED.remove()


def lua(server: Any, rule: str, body: str, *arguments: Any) -> list[Any]:
    """What a body says of a module; the arguments come as texts."""
    source = (LUA / "rules" / f"{rule}.lua").read_text("utf-8")
    found = server.eval(TEXT % (source, body), 0, *[repr(one) for one in arguments])
    return [one.decode() if isinstance(one, bytes) else one for one in found]


def test_days(server: Any) -> None:
    for case in cases("days"):
        (day,) = lua(server, "days", "return module.day_of(tonumber((...)))", case["when"])
        assert int(day) == case["day"], case


def test_histogram(server: Any) -> None:
    for case in cases("histogram"):
        assert lua(server, "histogram", "return module.bucket(tonumber((...)))", case["seconds"]) == [case["label"]], case


def test_history(server: Any) -> None:
    body = "local length, limit = ... return module.history_excess(tonumber(length), tonumber(limit))"
    for case in cases("history"):
        (excess,) = lua(server, "retention", body, case["length"], case["limit"])
        assert int(excess) == case["excess"], case


def test_moments(server: Any) -> None:
    body = (
        "local n, mean, squares = 0, 0, 0 for _, value in ipairs({...}) do"
        " n, mean, squares = module.add(n, mean, squares, tonumber(value)) end return n, mean, squares"
    )
    for case in cases("moments"):
        n, mean, squares = map(float, lua(server, "moments", body, *case["values"]))
        found = Moments(int(n), mean, squares)
        assert found.n == case["count"], case
        assert math.isclose(found.mean, case["mean"], rel_tol=1e-9, abs_tol=1e-9), case
        assert math.isclose(found.std, case["std"], rel_tol=1e-9, abs_tol=1e-9), case


def test_due_times(server: Any) -> None:
    body = (
        "local due, interval, now, backlog, limit = ..."
        " local times, after = module.due_times(tonumber(due), tonumber(interval), tonumber(now), tonumber(backlog),"
        " tonumber(limit)) times[#times + 1] = after return unpack(times)"
    )
    for case in cases("due_times"):
        given = [case[name] for name in ("next_due", "interval", "now", "backlog", "limit")]
        *times, after = map(float, lua(server, "recurrence", body, *given))
        assert (times, after) == (case["times"], case["then"]), case


def test_a_due_time_of_long_ago_ends(server: Any) -> None:
    body = "local times, after = module.due_times(-1e300, 0.001, 1e9, 0, 1) return #times"
    assert lua(server, "recurrence", body) == ["1"]


def test_changed_interval(server: Any) -> None:
    body = (
        "local due, old, new, now = ..."
        " return module.changed_interval(tonumber(due), tonumber(old), tonumber(new), tonumber(now))"
    )
    for case in cases("changed_interval"):
        given = [case[name] for name in ("next_due", "old", "new", "now")]
        assert float(lua(server, "recurrence", body, *given)[0]) == case["then"], case


def test_circles(server: Any) -> None:
    body = (
        "local links = {a = {'b'}, b = {'c', 'd'}, c = {}, d = {'a'}}"
        " return unpack(module.find_circle((...) == \"'a'\" and 'a' or 'c', function(job) return links[job] end) or {})"
    )
    assert lua(server, "circles", body, "a") == ["a", "b", "d", "a"]
    assert lua(server, "circles", body, "c") == []


def test_options_have_the_same_defaults(server: Any) -> None:
    numbers = {name: option.default for name, option in OPTIONS.items() if not isinstance(option.default, str)}
    for name, default in numbers.items():
        (found,) = lua(server, "config", f"return module.DEFAULTS['{name}']")
        assert float(found) == default, name
    for name in (*numbers, *(f"q-{name}" for name in QUEUE_OPTIONS)):
        assert lua(server, "config", f"return module.is_number('{name}')") == [1], name
    for name in ("application", "colour", "-heartbeat"):
        assert lua(server, "config", f"return module.is_number('{name}')") in ([None], [], [0]), name


def test_free_numbers(server: Any) -> None:
    body = "local taken = {} for _, one in ipairs({ select(2, ...) }) do taken[tonumber(one)] = true end "
    body += "return module.free_number(tonumber((...)), function(number) return taken[number] == true end)"
    for count, taken in ((0, []), (3, [4]), (0, list(range(1, 60))), (5, [6, 7, 9, 12, 13, 20]), (1, [2, 4, 8, 16])):
        (found,) = lua(server, "recurrence", body, count, *taken)
        assert int(found) == free_number(count, taken.__contains__)
