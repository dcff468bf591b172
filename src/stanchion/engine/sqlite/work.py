"""A command becomes a piece of work for a store: run by its handler, answered once however often it is asked."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from stanchion.commands import Command, Put, PutMany, Recur, reply_type
from stanchion.engine.contract import Outcome
from stanchion.engine.sqlite.handlers import HANDLERS
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.errors import BadArgument, TokenReused
from stanchion.rules.names import name_problem

CHUNK = 500
"""The most commands of one ``run_many`` that share a transaction, so that others get their turn."""

_GROWING = (Put, PutMany, Recur)


def work_of(command: Command[Any], token: str | None = None) -> Callable[[Transaction], Any]:
    """What runs the command. One that only reads can be repeated anyway: its token is not needed."""
    handler = HANDLERS[type(command)]
    if token is None or command.reads:
        return lambda tx: handler(tx, command)
    problem = name_problem(token)
    if problem:
        raise BadArgument(command=command.name, argument="token", problem=problem)
    return lambda tx: _once(tx, command, token)


def work_of_many(commands: Sequence[Command[Any]]) -> Callable[[Transaction], list[Outcome]]:
    """What runs several commands, each for itself."""
    return lambda tx: [_part(tx, command) for command in commands]


def chunks(commands: Sequence[Command[Any]]) -> Iterator[Sequence[Command[Any]]]:
    """The commands in runs of at most CHUNK."""
    return (commands[start : start + CHUNK] for start in range(0, len(commands), CHUNK))


def grows(*commands: Command[Any]) -> bool:
    """Would the commands add data?"""
    return any(isinstance(command, _GROWING) for command in commands)


def shift_leases(tx: Transaction, seconds: float) -> None:
    """Give running jobs the time that their workers did not have: the clock was stepped, or the machine asleep."""
    tx.run("UPDATE jobs SET expires = expires + ? WHERE state = 'running'", seconds)


def _part(tx: Transaction, command: Command[Any]) -> Outcome:
    try:
        return Outcome(reply=tx.part(work_of(command)))
    except sqlite3.Error:
        raise  # of the disk or the file: it concerns them all
    except Exception as error:  # noqa: BLE001 - a fault of ours in one command must not undo the others
        return Outcome(error=error)


def _once(tx: Transaction, command: Command[Any], token: str) -> Any:
    """Run the command unless one with its token was answered before: then that answer is given again."""
    request = f"{command.name} {hashlib.sha256(msgspec.json.encode(command)).hexdigest()}"
    answered = tx.one("SELECT request, reply FROM tokens WHERE token = ?", token)
    if answered is None:
        reply = HANDLERS[type(command)](tx, command)
        text = msgspec.json.encode(reply).decode()
        tx.run("INSERT INTO tokens VALUES (?, ?, ?, ?)", token, request, text, tx.now)
        return reply
    if answered[0] != request:
        raise TokenReused(token=token, earlier=answered[0].split()[0])
    return msgspec.json.decode(answered[1], type=reply_type(type(command)))
