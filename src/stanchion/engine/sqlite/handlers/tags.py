"""tag, untag, tagged, tags: a job's tags and the index of them."""

from __future__ import annotations

from collections.abc import Iterable

from stanchion.commands import AddTags, RemoveTags, Tagged, TopTags
from stanchion.engine.sqlite.handlers.rows import names, require, texts
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.records import JobPage


def retag(tx: Transaction, job: int, tags: Iterable[str]) -> None:
    """Let the index hold these tags of a job; those that it holds already keep their place."""
    tx.run("DELETE FROM tags WHERE job = ? AND tag NOT IN (SELECT value FROM json_each(?))", job, texts(tags))
    tx.run_many("INSERT OR IGNORE INTO tags VALUES (?, ?, ?)", [(tag, job, tx.number()) for tag in tags])


def add_tags(tx: Transaction, command: AddTags) -> tuple[str, ...]:
    row = require(tx, command.jid)
    return _set(tx, row.id, tuple(dict.fromkeys((*names(row.tags), *command.tags))))


def remove_tags(tx: Transaction, command: RemoveTags) -> tuple[str, ...]:
    row = require(tx, command.jid)
    return _set(tx, row.id, tuple(tag for tag in names(row.tags) if tag not in command.tags))


def tagged(tx: Transaction, command: Tagged) -> JobPage:
    total = tx.value("SELECT count(*) FROM tags WHERE tag = ?", command.tag)
    sql = "SELECT jid FROM tags JOIN jobs ON jobs.id = tags.job WHERE tag = ? ORDER BY number LIMIT ? OFFSET ?"
    return JobPage(total, tuple(jid for (jid,) in tx.all(sql, command.tag, command.count, command.offset)))


def top_tags(tx: Transaction, command: TopTags) -> tuple[str, ...]:
    sql = "SELECT tag FROM tags GROUP BY tag HAVING count(*) > 1 ORDER BY count(*) DESC, tag LIMIT ? OFFSET ?"
    return tuple(tag for (tag,) in tx.all(sql, command.count, command.offset))


def _set(tx: Transaction, job: int, tags: tuple[str, ...]) -> tuple[str, ...]:
    tx.run("UPDATE jobs SET tags = ? WHERE id = ?", texts(tags), job)
    retag(tx, job, tags)
    return tags
