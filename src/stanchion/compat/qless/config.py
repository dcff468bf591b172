"""``client.config``: options stored with the queue, in the style of a dictionary."""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from stanchion.commands import AllConfig, GetConfig, SetConfig, UnsetConfig
from stanchion.compat.qless.calls import Caller


class Config:
    """The options, and what they are set to. One that nobody knows reads None."""

    def __init__(self, client: Caller) -> None:
        self._client = client

    @property
    def all(self) -> dict[str, Any]:
        """Every option that has a default or was set."""
        return self._client.run(AllConfig)

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, option: str) -> Any:
        return self._client.run(GetConfig, option)

    def __setitem__(self, option: str, value: Any) -> None:
        self._client.run(SetConfig, option, value)

    def __delitem__(self, option: str) -> None:
        self._client.run(UnsetConfig, option)

    def __contains__(self, option: object) -> bool:
        return option in self.all

    def __iter__(self) -> Iterator[str]:
        return iter(self.all)

    def clear(self) -> None:
        """Give every option its default again."""
        for option in self.all:
            del self[option]

    def get(self, option: str, default: Any = None) -> Any:
        """What an option is set to; ``default`` if nobody knows it."""
        value = self[option]
        return default if value is None else value

    def items(self) -> ItemsView[str, Any]:
        """As of a dictionary."""
        return self.all.items()

    def keys(self) -> KeysView[str]:
        """As of a dictionary."""
        return self.all.keys()

    def values(self) -> ValuesView[Any]:
        """As of a dictionary."""
        return self.all.values()

    def pop(self, option: str, default: Any = None) -> Any:
        """What an option is set to, and give it its default again."""
        value = self.get(option, default)
        del self[option]
        return value

    def update(self, other: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), **options: Any) -> None:
        """Set several options, one after another."""
        for option, value in {**options, **dict(other)}.items():
            self[option] = value
