"""Recurring jobs that are due spawn their children."""

from __future__ import annotations

from stanchion.engine.sqlite.handlers.putting import NewJob, spawn
from stanchion.engine.sqlite.handlers.recurring import Template
from stanchion.engine.sqlite.handlers.rows import names
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.rules.recurrence import due_times, free_number

STEP = 1000
"""The most children that one command spawns."""

_DUE = "SELECT * FROM recurring WHERE queue = ? AND next_due <= ? ORDER BY next_due, jid LIMIT ?"


def spawn_due(tx: Transaction, queue: str, wanted: int) -> None:
    """Spawn what is due in the queue, no more of a template than is wanted, since the rest is not needed yet.

    Of each template, since the best of all that is due may be any's, and one that missed much must not hold up the others.
    """
    left = STEP
    for row in tx.all(_DUE, queue, tx.now, STEP):
        if left <= 0:
            return
        left -= _spawn(tx, Template._make(row), min(wanted, left))


def _spawn(tx: Transaction, template: Template, limit: int) -> int:
    due = due_times(template.next_due, template.interval, tx.now, template.backlog, limit)
    count = template.spawned
    for when in due.times:
        count = _free_number(tx, template.jid, count)
        spawn(tx, _child(template, count), when)
    tx.run("UPDATE recurring SET count = ?, next_due = ? WHERE jid = ?", count, due.next_due, template.jid)
    return len(due.times)


def _child(template: Template, count: int) -> NewJob:
    return NewJob(
        queue=template.queue,
        jid=f"{template.jid}-{count}",
        klass=template.klass,
        data=template.data,
        priority=template.priority,
        tags=names(template.tags),
        retries=template.retries,
        throttles=names(template.throttles),
        spawned_from=template.jid,
    )


def _free_number(tx: Transaction, jid: str, count: int) -> int:
    """The next number for a child: one that no other job's jid is using."""
    return free_number(count, lambda number: bool(tx.value("SELECT 1 FROM jobs WHERE jid = ?", f"{jid}-{number}")))
