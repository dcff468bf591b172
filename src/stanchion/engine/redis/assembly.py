"""One Lua text out of the modules in ``lua/``.

A module is a file that ends in ``return …`` and names the modules that it needs at its top: ``local keys = use('keys')``. Each runs
once, the first time that it is used. A server runs a script's whole text again at every call: so there a module is not even looked
up before a line that needs it is reached.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

_USE = re.compile(r"\buse\('([^']+)'\)")

_NEED = re.compile(r"^local (\w+) = use\('([^']+)'\)((?:\.\w+)?)\n", re.MULTILINE)

_TOKENS = re.compile(
    r"(?P<skipped>--\[\[.*?\]\]|--[^\n]*|\[\[.*?\]\]|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")"
    r"|(?P<name>(?<![\w.:])[A-Za-z_]\w*)(?!\w*\s*=[^=])",
    re.DOTALL,
)
"""Texts and comments, which stay; names that are neither fields nor keys in a table."""


@cache
def modules() -> Mapping[str, str]:
    """Every module's text, by its name. ValueError if some use each other in a circle: each would find the other half made."""
    found = dict(sorted(_walk(files("stanchion.engine.redis") / "lua")))
    _refuse_circles(found)
    return found


def loader(chosen: Mapping[str, str], *, late: bool) -> str:
    """A text that defines ``use``, which gives a module by its name; ``late``: each is looked up only where it is needed."""
    numbers = {name: number for number, name in enumerate(chosen)}
    bodies = [_late(body, numbers) if late else _early(body, numbers) for body in chosen.values()]
    return f"""local loaded, load = {{}}
local function _module(number)
  local found = loaded[number]
  if found == nil then
    found = load(number)
    loaded[number] = found
  end
  return found
end
local function use(name)
{_by_name(numbers)}
end
load = function(number)
{_tree(bodies)}
end"""


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


def _early(body: str, numbers: Mapping[str, int]) -> str:
    return _USE.sub(lambda use: f"_module({numbers[use[1]]})", body)


def _late(body: str, numbers: Mapping[str, int]) -> str:
    """The module with each name of another replaced by a look-up. No local may have such a name: luacheck sees to that."""
    needs = {name: f"_module({numbers[module]}){field}" for name, module, field in _NEED.findall(body)}
    return _TOKENS.sub(lambda found: needs.get(found["name"], found[0]) if found["name"] else found[0], _NEED.sub("", body))


def _by_name(numbers: Mapping[str, int]) -> str:
    return "\n".join(f"  if name == '{name}' then return _module({number}) end" for name, number in reversed(numbers.items()))


def _tree(bodies: Sequence[str], first: int = 0) -> str:
    """Which module has a number, in few steps."""
    if len(bodies) == 1:
        return bodies[0]
    half = len(bodies) // 2
    return f"if number < {first + half} then\n{_tree(bodies[:half], first)}else\n{_tree(bodies[half:], first + half)}end\n"
