"""Modules taken apart for the script."""

from __future__ import annotations

import pytest

from stanchion.engine.redis.splitting import parts_of

GREETING = """\
-- Says something.

local texts = use('texts')
local quote = use('texts').quote

local MARK, TIMES = '!', 2 -- simple, so each part has its own
local seen = {} -- shared by all parts

local greeting = {}

-- Used once: made with the function that uses it.
local function loud(text) return text .. MARK end

local function note(name)
  seen[name] = (seen[name] or 0) + 1
end

function greeting.say(name)
  note(name)
  return loud('hello ' .. texts.trim(name)) .. { note = 1 }.note
end

function greeting.forget(name)
  note(name)
  return quote(name), TIMES
end

return greeting
"""

TEXTS = """\
local texts = {}

function texts.trim(text) return text end

function texts.quote(text) return text end

return texts
"""


def parts(**modules: str) -> dict[str, str]:
    return {part.name: part.text for part in parts_of(modules, lambda name: False, lambda name: f"<{name}>")}


def test_each_function_is_a_part() -> None:
    found = parts(greeting=GREETING, texts=TEXTS)
    assert set(found) == {
        "greeting.say",
        "greeting.forget",
        "greeting#note",
        "greeting#seen",
        "texts.trim",
        "texts.quote",
    }
    say = found["greeting.say"]
    assert say.startswith("local MARK = '!'\nlocal function loud(text)")
    assert "<greeting#note>(name)" in say
    assert "<texts.trim>(name)" in say
    assert "{ note = 1 }.note" in say
    assert found["greeting.forget"].startswith("local TIMES = 2\nreturn function(name)")
    assert "<texts.quote>(name)" in found["greeting.forget"]
    assert found["greeting#seen"].startswith("return {}")


def test_a_function_alone_is_a_part_of_its_name() -> None:
    assert set(parts(count="local LEAST = 1\n\nreturn function(n) return n + LEAST end\n")) == {"count"}


@pytest.mark.parametrize(
    "odd",
    [
        "local latest = 0\n\nreturn function()\n  latest = latest + 1\n  return latest\nend\n",
        "local class = {}\nclass.__index = class\n\nfunction class:name() return self.is end\n\nreturn class\n",
        "local later\n\nreturn { ask = function() return later end }\n",
    ],
)
def test_what_is_of_another_shape_stays_whole(odd: str) -> None:
    (part,) = parts_of({"odd": odd}, lambda name: False, lambda name: f"<{name}>")
    assert part == ("odd", odd)


def test_a_module_that_is_taken_apart_cannot_be_handed_around() -> None:
    with pytest.raises(ValueError, match="the module texts is taken apart"):
        parts(texts=TEXTS, other="local texts = use('texts')\n\nreturn function() return texts end\n")
