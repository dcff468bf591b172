"""``config["heartbeat"] = 30``: options as the items of a mapping, where calls block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from stanchion.rules.config import ConfigValue


class AsyncItems:
    """Nothing: items cannot be awaited."""


class _Config(Protocol):
    def get(self, option: str) -> ConfigValue | None: ...
    def all(self) -> dict[str, ConfigValue]: ...
    def set(self, option: str, value: ConfigValue) -> None: ...
    def unset(self, option: str) -> None: ...


class Items:
    """The style of a mapping, for what has get, all, set and unset."""

    def __getitem__(self: _Config, option: str) -> ConfigValue:
        value = self.get(option)
        if value is None:
            raise KeyError(option)
        return value

    def __setitem__(self: _Config, option: str, value: ConfigValue) -> None:
        self.set(option, value)

    def __delitem__(self: _Config, option: str) -> None:
        self.unset(option)

    def __iter__(self: _Config) -> Iterator[str]:
        return iter(self.all())

    def __contains__(self: _Config, option: str) -> bool:
        return self.get(option) is not None
