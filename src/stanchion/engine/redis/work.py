"""A command becomes a request: with a token, so that it can be sent again when its answer is lost."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from typing import Any

import msgspec

from stanchion.commands import Command
from stanchion.engine.redis.calls import Call, call_of
from stanchion.engine.redis.plan import Request
from stanchion.engine.redis.url import Location
from stanchion.errors import BadArgument
from stanchion.rules.names import name_problem


def request_of(command: Command[Any], call: Call, location: Location, now: float | None, token: str | None) -> Request:
    """The request that runs a command. A caller's token goes with a digest of the command: it is good for no other."""
    digest = ""
    if call.reads:
        token = ""
    elif token is None:
        token = secrets.token_urlsafe(9)
    else:
        _check_token(command, token)
        digest = hashlib.sha256(msgspec.json.encode([command.name, command])).hexdigest()[:32]
    return _request(call, location, "" if now is None else repr(float(now)), token, digest, command.name)


def requests_of(commands: Sequence[Command[Any]], location: Location, now: float | None) -> tuple[list[Call], list[Request]]:
    """The calls and requests that run several commands."""
    calls = [call_of(command) for command in commands]
    return calls, [request_of(one, call, location, now, None) for one, call in zip(commands, calls, strict=True)]


def question_of(call: Call, location: Location, name: str) -> Request:
    """The request for a call that is no command, and only reads."""
    return _request(call, location, "", "", "", name)


def _request(call: Call, location: Location, now: str, token: str, digest: str, name: str) -> Request:
    sent = location.face.call(call.name, call.reads, location.namespace, now, token, digest, *call.arguments)
    return Request(sent, name, not call.reads)


def _check_token(command: Command[Any], token: str) -> None:
    problem = name_problem(token)
    if problem:
        raise BadArgument(command=command.name, argument="token", problem=problem)
