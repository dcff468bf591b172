"""Where the queues are, from what qless-py's client is told."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit


class Place(NamedTuple):
    """A server by its parts, as redis-py's keyword arguments name them."""

    host: str = "localhost"
    port: int = 6379
    db: int = 0
    username: str | None = None
    password: str | None = None
    ssl: bool = False


def url_of(url: str | None, **parts: object) -> str:
    """The URL to open: any of Stanchion's as it is; parts fill in what it leaves out. TypeError for parts that there are not."""
    unknown = parts.keys() - set(Place._fields)
    if unknown:
        problem = f"there is no argument {', '.join(sorted(unknown))}; there are {', '.join(Place._fields)}"
        raise TypeError(f"{problem}, and options of the URL")
    place = Place(**parts)  # type: ignore[arg-type]
    if url is None:
        url = f"{'rediss' if place.ssl else 'redis'}://{place.host}:{place.port}"
    return _completed(url, place) if parts else url


def _completed(url: str, place: Place) -> str:
    scheme, netloc, path, query, fragment = urlsplit(url)
    if scheme == "sqlite":
        raise TypeError("a file has no host, db or password")
    if place.password is not None and "@" not in netloc:
        netloc = f"{quote(place.username or '', safe='')}:{quote(place.password, safe='')}@{netloc}"
    if place.db and path in ("", "/"):
        path = f"/{place.db}"
    return urlunsplit((scheme, netloc, path, query, fragment))
