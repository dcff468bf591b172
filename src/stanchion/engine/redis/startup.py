"""What a server must be to keep jobs: refusals and warnings, read off its INFO and CONFIG. Nothing here talks to anybody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from stanchion.engine.redis.face import FACES, Face
from stanchion.engine.redis.url import Location
from stanchion.errors import EvictingServer, OldServer, StoreRefused

QUESTIONS: tuple[tuple[str, ...], ...] = (
    ("INFO", "server"),
    ("INFO", "persistence"),
    ("CONFIG", "GET", "maxmemory-policy"),
    ("CONFIG", "GET", "appendfsync"),
    ("CONFIG", "GET", "save"),
)
"""What is asked at the start. CONFIG may be forbidden to workers: then what it would tell is not known."""

POLICY_QUESTION = ("CONFIG", "GET", "maxmemory-policy")


class Facts(NamedTuple):
    """What the answers say; None where they do not."""

    product: str = "redis"
    version: str = "?"
    policy: str | None = None
    appends: bool | None = None
    fsync: str | None = None
    saves: bool | None = None


class Concern(NamedTuple):
    """Something to know about a server: a code, what it means, and what to do. ``usual`` is what many choose knowingly."""

    code: str
    message: str
    remedy: str
    usual: bool = False


def facts_of(answers: list[Any]) -> Facts:
    """The facts in the answers to QUESTIONS."""
    server, persistence, policy, fsync, saves = answers
    info = {**_info(server), **_info(persistence)}
    product = "valkey" if "valkey_version" in info else "redis"
    saved = setting(saves)
    return Facts(
        product=product,
        version=info.get(f"{product}_version", "?"),
        policy=setting(policy),
        appends=info["aof_enabled"] == "1" if "aof_enabled" in info else None,
        fsync=setting(fsync),
        saves=None if saved is None else bool(saved),
    )


def setting(answer: Any) -> str | None:
    """The value in the answer to CONFIG GET; None where it was refused."""
    if isinstance(answer, Exception) or not answer:
        return None
    return str(answer[1].decode())


def refusal(facts: Facts, location: Location) -> StoreRefused | None:
    """Why such a server cannot keep jobs, or None."""
    if _number(facts.version) < location.face.oldest[facts.product]:
        found = f"{facts.product.capitalize()} {facts.version}"
        return OldServer(url=location.shown, found=found, needed=_needed(location.face, facts))
    if facts.policy not in (None, "noeviction"):
        return EvictingServer(url=location.shown, policy=facts.policy)
    return None


def _needed(face: Face, facts: Facts) -> str:
    oldest = [f"{product.capitalize()} {major}.{minor}" for product, (major, minor) in face.oldest.items()]
    needed = f"{' or '.join(oldest)}, or newer, for {face.what}"
    old = FACES["script"].oldest[facts.product]
    return f"{needed}; with ?face=script in the URL this one would do" if old <= _number(facts.version) else needed


def concerns(facts: Facts) -> list[Concern]:
    """What may be lost, though the server can be used."""
    found = []
    if facts.policy is None:
        found.append(
            Concern(
                "policy-unknown",
                "this user may not read maxmemory-policy: whether the server evicts jobs is not known",
                "allow CONFIG GET, or make sure of noeviction",
            )
        )
    if facts.appends is False:
        lost = "all since the last snapshot" if facts.saves is not False else "everything"
        found.append(
            Concern(
                "no-append-only-file",
                f"the server keeps no append-only file: when it stops, {lost} is lost, acknowledged jobs too",
                "set appendonly yes (CONFIG SET appendonly yes, then in the file)",
            )
        )
    elif facts.fsync in ("everysec", "no"):
        seconds = "up to about one second" if facts.fsync == "everysec" else "up to half a minute"
        found.append(
            Concern(
                f"fsync-{facts.fsync}",
                f"when the machine stops (not just the server), {seconds} of acknowledged work is lost",
                "set appendfsync always if that is too much",
                usual=facts.fsync == "everysec",
            )
        )
    return found


def _info(answer: Any) -> Mapping[str, str]:
    if isinstance(answer, Exception):
        return {}
    lines = answer.decode().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line and not line.startswith("#"))


def _number(version: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in version.split(".")[:2])
    except ValueError:
        return (99,)  # one that does not say: functions will show
