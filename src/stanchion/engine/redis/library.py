"""The texts of the function library and of the script, put together from the same modules in ``lua/``.

The library is for our own clients. The script is for the clients of older queues, which load it in place of their own, and for our
clients where a server has no functions.

A module is a file that ends in ``return …`` and names the modules that it needs by ``use('…')``. Each runs once, the first time
that it is used: while a library loads, a server offers its functions nothing but their registration.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from stanchion.commands import VOCABULARY, Command, Put, PutMany, Recur, Requeue, SetConfig

MAJOR = 1
"""In the names of the library and its functions: two majors run side by side on one server."""

VERSION = 1
"""Grows with every change of the Lua. A server's library is replaced by a newer one only."""

LIBRARY = f"stanchion_v{MAJOR}"

VERSION_FUNCTION = f"{LIBRARY}_version"
"""Tells the version of the library that a server has."""

NEXT = "next"
"""Tells for how long a worker of some queues may sleep."""

MAY = "may"
"""Tells which of the server's commands, that functions use, a user may not run."""

_GROWING: tuple[type[Command[Any]], ...] = (Put, PutMany, Requeue, Recur, SetConfig)
"""What a server that is out of memory may refuse; all else goes on, since it finishes or frees work."""

_SCRIPT_ONLY = "script/"

_SCRIPT_HEAD = "-- The queue of Stanchion, for the clients of Qless and reqless. Its sources and its terms are Stanchion's."

_REGISTER = f"""\
local function register(name, command, flags, reads)
  local answer = function(keys, args)
    return use('main')(use('commands')(command), reads, keys, args)
  end
  redis.register_function{{function_name = '{LIBRARY}_' .. name, callback = answer, flags = flags}}
end"""

_USE = re.compile(r"\buse\('([^']+)'\)")


@cache
def script_digest() -> str:
    """By which the script is called once a server has it."""
    return hashlib.sha1(script().encode(), usedforsecurity=False).hexdigest()


def name_of(command: str) -> str:
    """The name of the file, and in that of the function, that runs a command."""
    return command.replace(".", "_")


@cache
def text() -> str:
    """The text for FUNCTION LOAD."""
    modules = {name: body for name, body in _modules().items() if not name.startswith(_SCRIPT_ONLY)}
    return "\n".join([f"#!lua name={LIBRARY}", _loader(modules), _REGISTER, *_registrations()]) + "\n"


@cache
def script() -> str:
    """The text for SCRIPT LOAD, which old clients load under the name of their own script."""
    return "\n".join([_SCRIPT_HEAD, _loader(_modules()), "return use('script/main')(KEYS, ARGV)"]) + "\n"


@cache
def _modules() -> dict[str, str]:
    modules = dict(sorted(_walk(files("stanchion.engine.redis") / "lua")))
    _refuse_circles(modules)
    return modules


def _walk(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".lua"):
            yield prefix + entry.name.removesuffix(".lua"), entry.read_text("utf-8")


def _refuse_circles(modules: Mapping[str, str]) -> None:
    """Two modules that need each other would each find the other half made."""
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise ValueError(f"Lua modules use each other in a circle: {' → '.join((*path, name))}")
        if name not in done:
            for other in _USE.findall(modules[name]):
                visit(other, (*path, name))
            done.add(name)

    for name in modules:
        visit(name, ())


def _loader(modules: Mapping[str, str]) -> str:
    branches = "\n".join(f"  if name == '{name}' then\n{body}  end" for name, body in modules.items())
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


def _registrations() -> Iterator[str]:
    yield f"redis.register_function{{function_name = '{VERSION_FUNCTION}', callback = function() return {VERSION} end,"
    yield "  flags = {'no-writes', 'allow-oom'}}"
    for name, command in VOCABULARY.items():
        yield _registration(name_of(name), "no-writes" if command.reads else "" if command in _GROWING else "allow-oom")
    yield _registration(NEXT, "no-writes")
    yield _registration(MAY, "allow-oom")


def _registration(name: str, flag: str) -> str:
    flags = f"{{'{flag}'}}" if flag else "{}"
    return f"register('{name}', '{name}', {flags}, {'true' if flag == 'no-writes' else 'false'})"
