"""``redis://user:password@host:6379/0?namespace=ql:``: a URL becomes hosts and options, or an error that names what is wrong."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from stanchion.engine.redis.face import FACES, Face
from stanchion.errors import BadURL

PORT, SENTINEL_PORT = 6379, 26379
NAMESPACE, CLUSTER_NAMESPACE = "ql:", "{ql}:"

Kind = Literal["one", "sentinel", "cluster"]
Address = tuple[str, int]

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("redis", "rediss", "valkey", "valkeys", "unix"), "one"),
    **dict.fromkeys(("redis+sentinel", "rediss+sentinel", "valkey+sentinel", "valkeys+sentinel"), "sentinel"),
    **dict.fromkeys(("redis+cluster", "rediss+cluster", "valkey+cluster", "valkeys+cluster"), "cluster"),
}
SCHEMES = tuple(_KINDS)

_OPTIONS = ("namespace", "face", "durability", "replicas", "timeout", "password", "ca", "cert", "key")
_TLS_FILES = ("ca", "cert", "key")
_LETTERS = "in names and passwords write %23 for #, %2F for /, %3F for ?, and %40 for @"
_PASSWORD = re.compile(rf"(://[^:@/?#]*):(?:(?!\?(?:{'|'.join(_OPTIONS)})=).)*@")
"""It may hold any letter: it ends at the last @ that stands before the options."""
_HASH_TAG = re.compile(r"\{[^}]+\}")


class Location(NamedTuple):
    """Where the servers are, and how they are spoken to.

    ``path`` is that of a unix socket. ``service`` is what sentinels call the primary. With ``replicas`` above 0, a write counts
    as done once so many replicas have it. ``timeout`` is the seconds within which a command is repeated until it is answered.
    ``face`` is how calls reach the server.
    """

    url: str
    kind: Kind = "one"
    hosts: tuple[Address, ...] = ()
    path: str | None = None
    service: str = ""
    db: int = 0
    username: str | None = None
    password: str | None = None
    tls: bool = False
    ca: str | None = None
    cert: str | None = None
    key: str | None = None
    namespace: str = NAMESPACE
    replicas: int = 0
    timeout: float = 10.0
    face: Face = FACES["library"]

    @property
    def shown(self) -> str:
        """The URL without the password, for people and logs."""
        return masked(self.url)


def masked(url: str) -> str:
    """A URL without its passwords."""
    return re.sub(r"(password=)[^&]*", r"\1***", _PASSWORD.sub(r"\1:***@", url))


def _wrong(url: str, problem: str) -> BadURL:
    return BadURL(url=masked(url), problem=problem)


def parse(url: str) -> Location:
    """The location that a URL names."""
    try:
        parts = urlsplit(url)
    except ValueError as problem:
        raise _wrong(url, f"it is no URL ({problem})") from None
    kind = _KINDS.get(parts.scheme)
    if kind is None:
        raise _wrong(url, f"there is no engine for {parts.scheme or 'it'}; write redis://host:6379/0")
    _refuse_letters(url, parts)
    options = _options(url, parts.query)
    files = _tls_files(url, parts, options)
    location = Location(
        url,
        kind,
        hosts=() if parts.scheme == "unix" else _hosts(url, parts, kind),
        username=unquote(parts.username) if parts.username else None,
        password=options.get("password", unquote(parts.password) if parts.password else None),
        tls=_is_tls(parts),
        ca=files.get("ca"),
        cert=files.get("cert"),
        key=files.get("key"),
        namespace=_namespace(url, options.get("namespace"), kind),
        replicas=_replicas(url, options),
        face=_face(url, options),
        timeout=_number(url, "timeout", options.get("timeout", "10"), 0.1, 50),
    )
    path: dict[str, Any] = _path(url, parts, kind)
    return location._replace(**path)


def _refuse_letters(url: str, parts: SplitResult) -> None:
    """Of a password with bare letters that have a meaning in URLs, a part would be taken for something else."""
    if "#" in url or ("@" in parts.path and parts.scheme != "unix"):
        raise _wrong(url, _LETTERS)
    if any("\ud800" <= letter <= "\udfff" for letter in url):
        raise _wrong(url.encode("utf-8", "replace").decode(), "it holds a lone surrogate, which UTF-8 cannot encode")


def _options(url: str, query: str) -> dict[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    for name, times in Counter(name for name, _ in pairs).items():
        if name not in _OPTIONS:
            raise _wrong(url, _LETTERS if "@" in query else f"there is no option {name}; there are {', '.join(_OPTIONS)}")
        if times > 1:
            raise _wrong(url, f"{name} is given {times} times; give it once")
    return dict(pairs)


def _is_tls(parts: SplitResult) -> bool:
    return parts.scheme.split("+")[0] in ("rediss", "valkeys")


def _tls_files(url: str, parts: SplitResult, options: dict[str, str]) -> dict[str, str]:
    """The files that TLS needs, each of which is there."""
    files = {name: options[name] for name in _TLS_FILES if name in options}
    for name, path in files.items():
        if not _is_tls(parts):
            raise _wrong(url, f"{name} goes with TLS only: write rediss:// or valkeys://")
        if "\0" in path or not Path(path).is_file():
            raise _wrong(url, f"{name} names no file that is there: {path!r}")
    return files


def _hosts(url: str, parts: SplitResult, kind: Kind) -> tuple[Address, ...]:
    default = SENTINEL_PORT if kind == "sentinel" else PORT
    texts = parts.netloc.rpartition("@")[2].split(",")
    if len(texts) > 1 and kind == "one":
        raise _wrong(url, "several hosts go with redis+sentinel:// or redis+cluster://")
    return tuple(_host(url, text, default) for text in texts)


def _host(url: str, text: str, default: int) -> Address:
    try:
        parts = urlsplit(f"//{text}")
        (parts.hostname or "").encode("idna")  # as a name is looked up
        return parts.hostname or "localhost", parts.port or default
    except ValueError as problem:
        raise _wrong(url, f"{text!r} is no host ({problem})") from None


def _path(url: str, parts: SplitResult, kind: Kind) -> dict[str, str | int]:
    """What comes behind the host: a socket's path; a service and a database; a database."""
    path = unquote(parts.path)
    if parts.scheme == "unix":
        if parts.netloc.rpartition("@")[2] or not path.strip("/"):
            raise _wrong(url, "write unix:///path/to/redis.sock")
        return {"path": path}
    words = [word for word in path.split("/") if word]
    if kind == "cluster":
        if words and words != ["0"]:
            raise _wrong(url, "a cluster has one database only, 0")
        return {}
    if kind == "sentinel":
        if not words:
            raise _wrong(url, "name the service: redis+sentinel://host:26379/service/0")
        return {"service": words[0], "db": _database(url, words[1:])}
    return {"db": _database(url, words)}


def _database(url: str, words: list[str]) -> int:
    if not words:
        return 0
    if len(words) > 1 or not words[0].isdecimal() or len(words[0]) > 9:
        raise _wrong(url, f"the database is a number, not {'/'.join(words)!r}")
    return int(words[0])


def _namespace(url: str, given: str | None, kind: Kind) -> str:
    namespace = given if given is not None else CLUSTER_NAMESPACE if kind == "cluster" else NAMESPACE
    if not namespace or "\0" in namespace:
        raise _wrong(url, "the namespace must not be empty, nor hold a NUL character")
    if kind == "cluster" and not _HASH_TAG.search(namespace):
        problem = (
            f"in a cluster the namespace needs a hash tag, so that all its keys are on one node: {{{namespace.strip(':')}}}:"
        )
        raise _wrong(url, problem)
    return namespace


def _face(url: str, options: dict[str, str]) -> Face:
    name = options.get("face", "library")
    if name not in FACES:
        raise _wrong(url, f"face must be {' or '.join(FACES)}, not {name!r}")
    return FACES[name]


def _replicas(url: str, options: dict[str, str]) -> int:
    durability = options.get("durability", "server")
    if durability not in ("server", "replicas"):
        raise _wrong(url, f"durability is server or replicas, not {durability!r}")
    if durability == "server":
        if "replicas" in options:
            raise _wrong(url, "replicas goes with durability=replicas only")
        return 0
    text = options.get("replicas", "1")
    number = _number(url, "replicas", text, 1, 100)
    if not number.is_integer():
        raise _wrong(url, f"replicas is a whole number, not {text!r}")
    return int(number)


def _number(url: str, name: str, text: str, least: float, most: float) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not least <= number <= most:
        raise _wrong(url, f"{name} is a number from {least:g} to {most:g}, not {text!r}")
    return number
