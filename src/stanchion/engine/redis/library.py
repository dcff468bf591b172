"""The texts of the function library and of the script, put together from the same modules in ``lua/``.

The library is for our own clients. The script is for the clients of older queues, which load it in place of their own, and for our
clients where a server has no functions.

While a library loads, a server offers its functions nothing but their registration: so its modules, too, run when they are needed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from stanchion.commands import VOCABULARY, Command, Put, PutMany, Recur, Requeue, SetConfig
from stanchion.engine.redis.assembly import library_loader, modules, script_loader

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
_SCRIPT_ENTRY = "script/main"

_SCRIPT_HEAD = "-- The queue of Stanchion, for the clients of Qless and reqless. Its sources and its terms are Stanchion's."

_REGISTER = f"""\
local function register(name, command, flags, reads)
  local answer = function(keys, args)
    return use('main')(use('commands')(command), reads, keys, args)
  end
  redis.register_function{{function_name = '{LIBRARY}_' .. name, callback = answer, flags = flags}}
end"""


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
    chosen = {name: body for name, body in modules().items() if not name.startswith(_SCRIPT_ONLY)}
    return "\n".join([f"#!lua name={LIBRARY}", library_loader(chosen), _REGISTER, *_registrations()]) + "\n"


@cache
def script() -> str:
    """The text for SCRIPT LOAD, which old clients load under the name of their own script."""
    entries = [name for name in modules() if name == _SCRIPT_ENTRY or name.startswith("native/")]
    loader = script_loader(modules(), entries)
    return f"{_SCRIPT_HEAD}\n{loader}\nreturn use('{_SCRIPT_ENTRY}')(KEYS, ARGV)\n"


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
