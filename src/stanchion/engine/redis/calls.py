"""Commands as calls of server-side functions, and their raw replies as records. Nothing here talks to anybody."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

from stanchion import commands as c
from stanchion.commands import Command
from stanchion.engine.redis import replies as r
from stanchion.engine.redis.library import NEXT, name_of
from stanchion.rules.config import OPTIONS, ConfigValue, option_of, parse_option

NONE = "\0"
"""What stands for nothing: no name holds a NUL, and no JSON text begins with one."""


class Call(NamedTuple):
    """A call of a command: its file, what follows the request's digest, whether it only reads, and what its reply means."""

    name: str
    arguments: list[str]
    reads: bool
    decode: Callable[[Any], Any]


def call_of(command: Command[Any]) -> Call:
    """The call that runs a command."""
    arguments_of: Callable[[Any], list[str]] = _SPECIAL.get(type(command), _arguments)
    arguments = arguments_of(command)
    if isinstance(command, c.GetConfig):
        return Call(name_of(command.name), arguments, True, lambda raw: _option(command.option, raw))
    return Call(name_of(command.name), arguments, command.reads, _DECODERS[type(command)])


def next_call(queues: tuple[str, ...], asker: str, patience: float) -> Call:
    """The call that tells for how many seconds somebody may sleep who waits for some queues, for so many seconds at most."""
    return Call(NEXT, [*_texts(queues), asker, *_texts(float(patience))], True, r.number)


def _arguments(command: Command[Any]) -> list[str]:
    """The fields of a command, in order, but for those at the end that have their defaults."""
    values = [(getattr(command, field.name), field.default) for field in fields(command)]  # type: ignore[arg-type]
    while values and values[-1][0] == values[-1][1]:
        values.pop()
    return [text for value, _ in values for text in _texts(value)]


def _texts(value: Any) -> list[str]:
    if value is None:
        return [NONE]
    if isinstance(value, bool):
        return ["1" if value else "0"]
    if isinstance(value, tuple):
        return [str(len(value)), *value]
    return [value if isinstance(value, str) else repr(value)]


def _many(parts: tuple[Command[Any], ...]) -> list[str]:
    """Parts, each preceded by how many arguments it has."""
    found = [str(len(parts))]
    for part in parts:
        arguments = _arguments(part)
        found += [str(len(arguments)), *arguments]
    return found


def _set_config(command: c.SetConfig) -> list[str]:
    return [command.option, str(command.value)]


def _log(command: c.Log) -> list[str]:
    """What the data holds besides what and when, which every entry has; nothing where it is no object."""
    more = {} if command.data is None else json.loads(command.data)
    if not isinstance(more, dict):
        return [command.jid, command.message, NONE]
    kept = {key: value for key, value in more.items() if key not in ("what", "when")}
    return [command.jid, command.message, json.dumps(kept, ensure_ascii=False, separators=(",", ":"))]


_SPECIAL: dict[type[Any], Callable[[Any], list[str]]] = {
    c.PutMany: lambda command: _many(command.puts),
    c.CompleteMany: lambda command: _many(command.completes),
    c.SetConfig: _set_config,
    c.Log: _log,
}


def _option(option: str, raw: Any) -> ConfigValue | None:
    """An option's value: its own, else for one of a queue the general one's, else its default."""
    own, general = (r.optional_text(value) for value in raw)
    for text in (own, general):
        value = _parsed(option, text)
        if value is not None:
            return value
    known = OPTIONS.get(option) or option_of(option)
    return None if known is None else known.default


def _all_options(raw: Any) -> dict[str, ConfigValue]:
    found: dict[str, ConfigValue] = {name: option.default for name, option in OPTIONS.items()}
    for name, text in r.pairs(raw).items():
        value = _parsed(name, text)
        if value is not None:
            found[name] = value
    return found


def _parsed(option: str, text: str | None) -> ConfigValue | None:
    """None where nothing was set, or something that is none: then the default holds."""
    try:
        return None if text is None else parse_option(option, text)
    except ValueError:
        return None


_DECODERS: dict[type[Any], Callable[[Any], Any]] = {
    c.Put: r.text,
    c.PutMany: r.texts,
    c.Requeue: r.text,
    c.Unfail: int,
    c.Cancel: r.texts,
    c.Timeout: r.nothing,
    c.Pop: r.jobs,
    c.Peek: r.jobs,
    c.Heartbeat: r.number,
    c.Complete: r.text,
    c.CompleteMany: r.texts,
    c.Fail: r.text,
    c.Retry: int,
    c.Get: r.optional_job,
    c.MultiGet: r.jobs,
    c.SetPriority: r.number,
    c.Log: r.nothing,
    c.Depend: bool,
    c.Undepend: bool,
    c.Track: bool,
    c.Untrack: bool,
    c.Tracked: r.tracked,
    c.AddTags: r.texts,
    c.RemoveTags: r.texts,
    c.Tagged: r.page,
    c.TopTags: r.texts,
    c.Recur: r.text,
    c.Unrecur: bool,
    c.GetRecurring: r.optional_recurring,
    c.UpdateRecurring: bool,
    c.TagRecurring: r.texts,
    c.UntagRecurring: r.texts,
    c.AllCounts: r.all_counts,
    c.Counts: r.counts,
    c.Length: int,
    c.ListJobs: r.texts,
    c.Pause: r.nothing,
    c.Unpause: r.nothing,
    c.ForgetQueues: r.nothing,
    c.Stats: r.stats,
    c.FailureGroups: r.groups,
    c.Failed: r.page,
    c.AllWorkers: r.workers,
    c.JobsOfWorker: r.jobs_of_worker,
    c.Deregister: int,
    c.SetThrottle: r.nothing,
    c.GetThrottle: r.throttle,
    c.AllThrottles: r.throttles,
    c.DeleteThrottle: r.nothing,
    c.ThrottleLocks: r.texts,
    c.ThrottlePending: r.texts,
    c.ReleaseThrottle: r.nothing,
    c.GetConfig: r.nothing,
    c.AllConfig: _all_options,
    c.SetConfig: r.nothing,
    c.UnsetConfig: r.nothing,
}
"""Every command of the vocabulary, and what its raw reply means."""
