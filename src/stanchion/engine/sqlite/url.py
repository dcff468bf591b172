"""``sqlite:///jobs.db?durability=fast``: a URL becomes a path and options, or an error that names what is wrong."""

from __future__ import annotations

import os
from typing import Literal, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from stanchion.errors import BadURL

MEMORY = ":memory:"

_WORDS = {"durability": ("full", "fast"), "mode": ("rw", "ro"), "network": ("refuse", "allow")}


class Location(NamedTuple):
    """Where a database is and how it is opened.

    ``durability``: full survives a power cut (synchronous=FULL), fast may forget the newest commits then, but never more.
    ``mode``: ro opens for reading only. ``network``: allow opens a file on a network file system all the same.
    """

    url: str
    path: str
    durability: Literal["full", "fast"] = "full"
    mode: Literal["rw", "ro"] = "rw"
    network: Literal["refuse", "allow"] = "refuse"

    @property
    def in_memory(self) -> bool:
        return self.path == MEMORY


def parse(url: str) -> Location:
    """The location that a URL names: ``sqlite:///relative.db``, ``sqlite:////absolute.db``, ``sqlite://`` in memory."""
    parts = urlsplit(url)
    if parts.scheme != "sqlite":
        raise BadURL(url=url, problem="it does not begin with sqlite://")
    if parts.netloc or parts.fragment:
        raise BadURL(url=url, problem="write sqlite:///relative/path.db or sqlite:////absolute/path.db")
    return Location(url, _path(url, unquote(parts.path)), **_options(url, parts.query))  # type: ignore[arg-type]


def _path(url: str, path: str) -> str:
    if path in ("", "/"):
        return MEMORY
    if "\0" in path:
        raise BadURL(url=url, problem="the path holds a NUL character")
    return os.path.abspath(path[1:])


def _options(url: str, query: str) -> dict[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    for name, word in options.items():
        if name not in _WORDS:
            raise BadURL(url=url, problem=f"there is no option {name}; there are {', '.join(_WORDS)}")
        if word not in _WORDS[name]:
            raise BadURL(url=url, problem=f"{name} is {' or '.join(_WORDS[name])}, not {word!r}")
    return options
