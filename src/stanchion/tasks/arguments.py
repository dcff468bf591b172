"""A call's arguments as JSON, and back into the types that the function asks for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any, get_type_hints

import msgspec

from stanchion.client.data import decode, encode


class _Call(msgspec.Struct, forbid_unknown_fields=True):
    args: list[Any] = []
    kwargs: dict[str, Any] = {}


class Arguments:
    """How the arguments of one function travel: ``{"args": […], "kwargs": {…}}``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._signature = inspect.signature(function)

    def encode(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """The data of a job that makes this call.

        TypeError if the function cannot be called so, or its annotations cannot be read; BadArgument if an argument has no JSON.
        """
        self._signature.bind(*args, **kwargs)
        _ = self._hints  # a worker could not read them back without
        return encode({"args": args, "kwargs": kwargs}, command="put", argument="data")

    def decode(self, data: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The call that a job's data asks for. TypeError or msgspec.ValidationError if it is none, or does not fit the function."""
        call = msgspec.convert(decode(data), _Call)
        bound = self._signature.bind(*call.args, **call.kwargs)
        for name, value in bound.arguments.items():
            bound.arguments[name] = self._convert(self._signature.parameters[name], value)
        return bound.args, bound.kwargs

    def result(self, text: str) -> Any:
        """What the function returned, from its JSON text."""
        return _typed(decode(text), self._hints.get("return", Any))

    def _convert(self, parameter: inspect.Parameter, value: Any) -> Any:
        hint = self._hints.get(parameter.name, Any)
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            return tuple(_typed(one, hint) for one in value)
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            return {name: _typed(one, hint) for name, one in value.items()}
        return _typed(value, hint)

    @cached_property
    def _hints(self) -> dict[str, Any]:
        try:
            return get_type_hints(self._function, include_extras=True)
        except NameError as error:
            name = self._function.__qualname__
            problem = (
                f"the annotations of {name} cannot be read at run time ({error}): arguments could not become what they say"
            )
            raise TypeError(f"{problem}; define or import it at the top of the module, outside of TYPE_CHECKING") from None


def _typed(value: Any, hint: Any) -> Any:
    if hint is Any:
        return value
    return msgspec.convert(value, hint, str_keys=True, dec_hook=_from_plain)


def _from_plain(kind: type, value: Any) -> Any:
    if kind is object:
        return value
    validate = getattr(kind, "model_validate", None)
    if validate is None:
        raise NotImplementedError(f"{kind.__qualname__} cannot be made from JSON")
    return validate(value)
