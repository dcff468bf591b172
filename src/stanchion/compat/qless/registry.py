"""The code that jobs may run in this process, by klass. A name that the store holds is looked up here, and never imported."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from stanchion.compat.qless.exceptions import UnregisteredKlass
from stanchion.tasks.registry import name_of

C = TypeVar("C", bound="type | Callable[..., Any]")


class Registered(NamedTuple):
    """A class or function, and the module that registered it: what another process imports to have it registered, too."""

    code: Any
    module: str


_registered: dict[str, Registered] = {}


def register(code: Any = None, *more: Any, klass: str | None = None) -> Any:
    """Let jobs of this process run a class, a function, or every public class that a module defines; the first of them again.

    A class goes by ``module.Name``, as qless-py names it, or by ``klass``, which can be any other client's name for it. Usable
    as a decorator: ``@register`` or ``@register(klass="Billing::Invoice")``. ValueError where a klass names other code already.
    """
    module = sys._getframe(1).f_globals.get("__name__", "__main__")
    if code is None:
        return lambda code: _register(code, klass, module)
    if klass is not None and (more or isinstance(code, ModuleType)):
        raise TypeError("klass= names one class or function")
    for one in (code, *more):
        _register(one, klass, module)
    return code


def registered() -> dict[str, Registered]:
    """All that is registered, by klass."""
    return dict(_registered)


def lookup(klass: str) -> Any:
    """The code of a klass. Raises UnregisteredKlass."""
    try:
        return _registered[klass].code
    except KeyError:
        raise UnregisteredKlass(
            f"klass {klass!r} is not registered in this process, and names from the store are never imported: "
            f"import its code and call qless.register(TheClass), or qless.register(TheClass, klass={klass!r})"
        ) from None


def class_string(klass: Any) -> str:
    """The klass that a class is put under: what it was registered as, else ``module.Name``. A text is itself."""
    if isinstance(klass, str):
        return klass
    return next((name for name, one in _registered.items() if one.code is klass), name_of(klass))


def learn(klass: Any) -> str:
    """The klass that a class is put under. This process can run it from now on."""
    name = class_string(klass)
    if not isinstance(klass, str) and name not in _registered:
        _register(klass, name, klass.__module__)
    return name


def _register(code: Any, klass: str | None, module: str) -> Any:
    if isinstance(code, ModuleType):
        for one in _classes_of(code):
            _register(one, None, module)
        return code
    if not callable(code):
        raise TypeError(f"a class, a function or a module can be registered, not {code!r:.100}")
    name = klass or name_of(code)
    before = _registered.get(name)
    if before is not None and name_of(before.code) != name_of(code):
        raise ValueError(f"klass {name!r} is {name_of(before.code)} already, and cannot be {name_of(code)} too")
    _registered[name] = Registered(code, module)
    return code


def _classes_of(module: ModuleType) -> list[type]:
    members = inspect.getmembers(module, inspect.isclass)
    return [one for name, one in members if one.__module__ == module.__name__ and not name.startswith("_")]
