"""One Lua text out of the modules in ``lua/``.

A module is a file that ends in ``return …`` and names the modules that it needs at its top: ``local keys = use('keys')``. Each runs
once, the first time that it is used; in a script, only as much of it as a call needs (``splitting``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from stanchion.engine.redis.splitting import parts_of

_USE = re.compile(r"\buse\('([^']+)'\)")


@cache
def modules() -> Mapping[str, str]:
    """Every module's text, by its name. ValueError if some use each other in a circle: each would find the other half made."""
    found = dict(sorted(_walk(files("stanchion.engine.redis") / "lua")))
    _refuse_circles(found)
    return found


def library_loader(chosen: Mapping[str, str]) -> str:
    """A text that defines ``use``, which gives a module by its name."""
    branches = "\n".join(f"  if name == '{name}' then\n{body}  end" for name, body in chosen.items())
    return f"""local use
local function load(name)
{branches}
end
local loaded = {{}}
use = function(name)
  local module = loaded[name]
  if module == nil then
    module = load(name)
    loaded[name] = module
  end
  return module
end"""


def script_loader(chosen: Mapping[str, str], entries: Sequence[str]) -> str:
    """The same for a script: ``use`` gives one of the entries."""
    numbers: dict[str, int] = defaultdict(lambda: len(numbers) + 1)
    parts = {
        part.name: part.text for part in parts_of(chosen, lambda name: name in entries, lambda name: _reach(numbers[name]))
    }
    texts = [parts[name] for name in sorted(parts, key=numbers.__getitem__)]
    named = "\n".join(f"  if name == '{name}' then return {_reach(numbers[name])} end" for name in entries)
    # There is room for all parts from the start: a table that grows is built anew again and again.
    return f"""local _parts = {{{",".join(["nil"] * len(texts))}}}
local function use(name)
{named}
end
local function make(number)
{_tree(texts, 1)}
end
setmetatable(_parts, {{ __index = function(_, number)
  local part = make(number)
  _parts[number] = part
  return part
end }})"""


def _reach(number: int) -> str:
    return f"_parts[{number}]"


def _walk(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".lua"):
            yield prefix + entry.name.removesuffix(".lua"), entry.read_text("utf-8")


def _refuse_circles(found: Mapping[str, str]) -> None:
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise ValueError(f"Lua modules use each other in a circle: {' → '.join((*path, name))}")
        if name not in done:
            for other in _USE.findall(found[name]):
                visit(other, (*path, name))
            done.add(name)

    for name in found:
        visit(name, ())


def _tree(bodies: Sequence[str], first: int) -> str:
    """Which module has a number, in few steps."""
    if len(bodies) == 1:
        return bodies[0]
    half = len(bodies) // 2
    return f"if number < {first + half} then\n{_tree(bodies[:half], first)}else\n{_tree(bodies[half:], first + half)}end\n"
