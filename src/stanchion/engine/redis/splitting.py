"""Lua modules taken apart, so that a script makes only what a call needs.

A server runs a script's whole text at each call. To make every function of every module that a call touches would cost more than
what the functions do; so each becomes a *part* of its own, made when it is first reached. That works for a module of the usual
shape: ``local m = {}``, then constants, ``local function``, ``function m.…``, and ``return m``, or ``return function…`` alone. Any
other is one part as a whole.

It reads lines, not Lua: what begins in the first column begins a statement, and no local has the name of anything at the top of its
module. luacheck and the tests see to both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

_NEED = re.compile(r"local (\w+) = use\('([^']+)'\)\n")
_NEED_FIELD = re.compile(r"local (\w+) = (?:use\('([^']+)'\)|(\w+))\.(\w+)\n")
_LOCAL_FUNCTION = re.compile(r"local function (\w+)(\(.*)", re.DOTALL)
_FUNCTION = re.compile(r"function (\w+)\.(\w+)(\(.*)", re.DOTALL)
_FIELD = re.compile(r"(\w+)\.(\w+) = (.*)", re.DOTALL)
_LOCAL = re.compile(r"local (\w+) = (.*)", re.DOTALL)
_LOCALS = re.compile(r"local (\w+(?:, \w+)+) = (.*)", re.DOTALL)
_SIMPLE = re.compile(r"[\d.e+*/ ^-]+|'[^']*'")

_TOKENS = re.compile(
    r"(?P<skipped>--[^\n]*|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")"
    r"|(?P<name>(?<![\w.:])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|(?!\w*\s*=[^=])))",
)
"""Texts and comments, which stay; and names, with a field if there is one, that are no keys in a table."""


class Part(NamedTuple):
    """Something that is made once, when it is first reached: a function, a value, or a whole module."""

    name: str
    """``module.field`` of what others may see, ``module#name`` of what they may not, ``module`` of one that is whole."""
    text: str
    """Statements that return it."""


class _Odd(Exception):
    """The module is not of the usual shape."""


def parts_of(modules: Mapping[str, str], whole: Callable[[str], bool], reach: Callable[[str], str]) -> list[Part]:
    """The parts of some modules. ``whole``: must a module's table stay so? ``reach`` writes how a part is reached, by its name."""
    split = {name: module for name, text in modules.items() if (module := _split(name, text))}
    split = {name: module for name, module in split.items() if module.table is None or not whole(name)}
    usual = {name for name, module in split.items() if module is not None and module.table is not None}
    found: list[Part] = []
    for name, text in modules.items():
        module = split.get(name)
        found += module.parts(usual, reach) if module else [_whole(name, text, usual, reach)]
    return found


class _Module(NamedTuple):
    name: str
    table: str | None
    """The local name of what it returns; None where it returns something else than a table of its own."""
    needs: dict[str, str]
    """Local names, and the module or ``module.field`` that each stands for."""
    constants: dict[str, str]
    own: dict[str, str]
    """Local names, and the parts that they stand for."""
    made: dict[str, tuple[str, frozenset[str]]]
    """Parts: the statements that make them, and which local names there were by then."""

    def parts(self, usual: set[str], reach: Callable[[str], str]) -> Iterator[Part]:
        within = self._inner()
        for part, (text, names) in self.made.items():
            if part in within:
                continue
            body = "".join(self._inside(inner) for inner, outer in within.items() if outer == part) + text
            seen = names - {self._local(inner) for inner in within}
            body = _replaced(body, partial(self._stands_for, names=seen, usual=usual, reach=reach))
            used = [f"local {name} = {value}\n" for name, value in self.constants.items() if re.search(rf"\b{name}\b", body)]
            yield Part(part, "".join(used) + body)

    def _inner(self) -> dict[str, str]:
        """Functions that only one part uses, and that part: they are made with it, which costs less than to make them apart."""
        found: dict[str, str] = {}
        for local, part in self.own.items():
            users = [user for user, (text, _) in self.made.items() if user != part and re.search(rf"\b{local}\b", text)]
            if len(users) == 1 and self.made[part][0].startswith("return function("):
                found[part] = users[0]
        while nested := [inner for inner, outer in found.items() if outer in found]:
            for inner in nested:
                found[inner] = found[found[inner]]
        return found

    def _inside(self, part: str) -> str:
        return f"local function {self._local(part)}{self.made[part][0].removeprefix('return function')}"

    def _local(self, part: str) -> str:
        return part.partition("#")[2]

    def _stands_for(self, word: str, *, names: frozenset[str], usual: set[str], reach: Callable[[str], str]) -> str | None:
        head, _, field = word.partition(".")
        if head == self.table and field:
            return reach(f"{self.name}.{field}")
        if head in names:
            return reach(self.own[head]) + word.removeprefix(head)
        return _of_others(word, self.needs, usual, reach)


def _whole(name: str, text: str, usual: set[str], reach: Callable[[str], str]) -> Part:
    needs = dict(_NEED.findall(text)) | {
        local: f"{module}.{field}" for local, module, _, field in _NEED_FIELD.findall(text) if module
    }
    body = _NEED.sub("", _NEED_FIELD.sub(lambda found: "" if found[2] else found[0], text))
    return Part(name, _replaced(body, lambda word: _of_others(word, needs, usual, reach)))


def _of_others(word: str, needs: Mapping[str, str], usual: set[str], reach: Callable[[str], str]) -> str | None:
    head, _, field = word.partition(".")
    target = needs.get(head)
    if target is None:
        return None
    if "." in target:
        module, _, inner = target.partition(".")
        return (reach(target) if module in usual else f"{reach(module)}.{inner}") + word.removeprefix(head)
    if target not in usual:
        return reach(target) + word.removeprefix(head)
    if not field:
        raise ValueError(f"the module {target} is taken apart: {word} cannot be handed around")
    return reach(f"{target}.{field}")


def _replaced(text: str, stands_for: Callable[[str], str | None]) -> str:
    return _TOKENS.sub(lambda found: (found["name"] and stands_for(found["name"])) or found[0], text)


def _split(name: str, text: str) -> _Module | None:
    try:
        return _taken_apart(name, list(_statements(text)))
    except _Odd:
        return None


def _taken_apart(name: str, statements: list[str]) -> _Module:
    table = statements[-1].removeprefix("return ").strip()
    begins = f"local {table} = {{}}\n"
    module = _Module(name, table if begins in statements else None, {}, {}, {}, {})
    for statement in statements[:-1]:
        if statement != begins:
            _take(module, statement)
    if module.table is None:
        _make(module, name, statements[-1])
    values = [local for local, part in module.own.items() if not module.made[part][0].startswith("return function")]
    for local in [*values, *module.constants]:
        if any(re.search(rf"^\s+(?:\w+, )*{local}(?:, \w+)* = ", made, re.MULTILINE) for made, _ in module.made.values()):
            raise _Odd  # it changes: a copy would not do
    return module


def _take(module: _Module, statement: str) -> None:
    if found := _NEED.fullmatch(statement):
        module.needs[found[1]] = found[2]
    elif (found := _NEED_FIELD.fullmatch(statement)) and (found[2] or found[3] in module.needs):
        module.needs[found[1]] = f"{found[2] or module.needs[found[3]]}.{found[4]}"
    elif found := _LOCAL_FUNCTION.fullmatch(statement):
        _own(module, found[1], f"return function{found[2]}")
    elif (found := _FUNCTION.fullmatch(statement)) and found[1] == module.table:
        _make(module, f"{module.name}.{found[2]}", f"return function{found[3]}")
    elif (found := _FIELD.fullmatch(statement)) and found[1] == module.table:
        _make(module, f"{module.name}.{found[2]}", f"return {found[3]}")
    elif (found := _LOCAL.fullmatch(statement)) and found[1] not in module.needs:
        _keep(module, found[1], found[2])
    elif found := _LOCALS.fullmatch(statement):
        for one, value in zip(found[1].split(", "), _uncommented(found[2]).split(", "), strict=True):
            _keep(module, one, value)
    else:
        raise _Odd


def _keep(module: _Module, name: str, value: str) -> None:
    if _SIMPLE.fullmatch(_uncommented(value)):
        module.constants[name] = _uncommented(value)
    else:
        _own(module, name, f"return {value}")


def _own(module: _Module, name: str, text: str) -> None:
    module.own[name] = f"{module.name}#{name}"
    _make(module, module.own[name], text)


def _make(module: _Module, part: str, text: str) -> None:
    module.made[part] = (text, frozenset(module.own))


def _uncommented(text: str) -> str:
    return re.sub(r"\s*--.*", "", text).strip()


def _statements(text: str) -> Iterator[str]:
    """What begins in the first column, up to the ``end`` or brace there that closes it."""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        if not line.strip() or (line.startswith("--") and not lines):
            continue
        if lines and not line.startswith((" ", "end", "}", ")")):
            yield "".join(lines)
            lines = []
        if not line.startswith("--"):
            lines.append(line)
    yield "".join(lines)
