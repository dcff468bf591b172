"""recur, unrecur, recur.get, recur.update, recur.tag, recur.untag."""

from __future__ import annotations

from typing import NamedTuple

from stanchion.commands import GetRecurring, Recur, TagRecurring, Unrecur, UntagRecurring, UpdateRecurring
from stanchion.engine.sqlite.handlers.line import know_queue
from stanchion.engine.sqlite.handlers.rows import names, texts
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.errors import RecurringJobNotFound
from stanchion.records import RecurringJob
from stanchion.rules.recurrence import changed_interval

_SELECT = "SELECT * FROM recurring WHERE jid = ?"


class Template(NamedTuple):
    """A row of ``recurring`` in the order of its columns."""

    jid: str
    klass: str
    data: str
    queue: str
    interval: float
    offset: float
    next_due: float
    priority: float
    tags: str
    retries: int
    backlog: int
    throttles: str
    spawned: int


def recur(tx: Transaction, command: Recur) -> str:
    old = _find(tx, command.jid)
    template = Template(
        command.jid,
        command.klass,
        command.data,
        command.queue,
        command.interval,
        command.offset,
        old.next_due if old and _same_schedule(old, command) else tx.now + command.offset,
        command.priority,
        texts(command.tags),
        command.retries,
        command.backlog,
        texts(command.throttles),
        old.spawned if old else 0,
    )
    _store(tx, template)
    know_queue(tx, template.queue)
    return command.jid


def unrecur(tx: Transaction, command: Unrecur) -> bool:
    tx.run("DELETE FROM recurring WHERE jid = ?", command.jid)
    return True


def get_recurring(tx: Transaction, command: GetRecurring) -> RecurringJob | None:
    found = _find(tx, command.jid)
    return None if found is None else record_of(found)


def update_recurring(tx: Transaction, command: UpdateRecurring) -> bool:
    old = _require(tx, command.jid)
    fields = ("priority", "interval", "retries", "data", "klass", "queue", "backlog")
    changes = {field: getattr(command, field) for field in fields if getattr(command, field) is not None}
    if command.interval is not None:
        changes["next_due"] = changed_interval(old.next_due, old.interval, command.interval, tx.now)
    _store(tx, old._replace(**changes))
    if command.queue is not None:
        know_queue(tx, command.queue)
    return True


def tag_recurring(tx: Transaction, command: TagRecurring) -> tuple[str, ...]:
    old = _require(tx, command.jid)
    return _retag(tx, old, tuple(dict.fromkeys((*names(old.tags), *command.tags))))


def untag_recurring(tx: Transaction, command: UntagRecurring) -> tuple[str, ...]:
    old = _require(tx, command.jid)
    return _retag(tx, old, tuple(tag for tag in names(old.tags) if tag not in command.tags))


def record_of(template: Template) -> RecurringJob:
    """The record of a row."""
    fields = template._asdict()
    del fields["offset"]
    fields["count"] = fields.pop("spawned")
    return RecurringJob(**{**fields, "tags": names(template.tags), "throttles": names(template.throttles)})


def _same_schedule(old: Template, command: Recur) -> bool:
    same = (old.queue, old.interval, old.offset) == (command.queue, command.interval, command.offset)
    return same and not command.restart


def _store(tx: Transaction, template: Template) -> None:
    places = ", ".join("?" * len(template))
    tx.run(f"INSERT OR REPLACE INTO recurring VALUES ({places})", *template)
    tx.wake(template.queue)


def _retag(tx: Transaction, template: Template, tags: tuple[str, ...]) -> tuple[str, ...]:
    tx.run("UPDATE recurring SET tags = ? WHERE jid = ?", texts(tags), template.jid)
    return tags


def _find(tx: Transaction, jid: str) -> Template | None:
    row = tx.one(_SELECT, jid)
    return None if row is None else Template._make(row)


def _require(tx: Transaction, jid: str) -> Template:
    found = _find(tx, jid)
    if found is None:
        raise RecurringJobNotFound(jid=jid)
    return found
