"""Recurring jobs: recur add, list, show, update, remove, tag, untag."""

from __future__ import annotations

import time
from typing import Any

import click

from stanchion.cli.charts import seconds
from stanchion.cli.shell import Command, Shell, nothing, pass_shell
from stanchion.cli.text import name, when
from stanchion.client.data import RawJSON
from stanchion.records import RecurringJob

PAGE = 1000


@click.group()
def recur() -> None:
    """Jobs that are put again and again, at an interval."""


@recur.command(cls=Command)
@click.argument("queue")
@click.argument("klass")
@click.argument("data", default="{}")
@click.option("--every", "interval", type=float, required=True, help="Seconds from one to the next.")
@click.option("--offset", type=float, default=0.0, help="Seconds from now to the first.")
@click.option("--jid", help="A name of your own: the same again changes it, and keeps its schedule.")
@click.option("--priority", type=float, default=0.0)
@click.option("--tag", "tags", multiple=True, help="A tag of what it spawns; repeatable.")
@click.option("--retries", type=int, default=0, show_default=True)
@click.option("--backlog", type=int, default=0, help="How many missed ones are made up for; 0: all.")
@click.option("--restart", is_flag=True, help="Begin the schedule anew.")
@pass_shell
def add(shell: Shell, /, queue: str, klass: str, data: str, **options: Any) -> None:
    """Let a queue spawn a job at an interval.

    Example: stanchion recur add reports tasks.report --every 3600 --jid hourly
    """
    jid = shell.client.queues[queue].recur(klass, RawJSON(data), **options)
    shell.answer(jid, name(jid))


@recur.command("list", cls=Command)
@click.argument("queues", nargs=-1)
@pass_shell
def list_(shell: Shell, queues: tuple[str, ...]) -> None:
    """The recurring jobs of some queues, or of all.

    Example: stanchion recur list reports
    """
    client = shell.client
    found = [
        template
        for queue in queues or [counts.name for counts in client.queues.counts()]
        for jid in client.queues[queue].jobs("recurring", count=PAGE)
        if (template := client.recurring.get(jid))
    ]
    now = time.time()
    columns = ("jid", "queue", "klass", "every", "next", "spawned#")
    shell.answer(found, lambda: shell.table("recurring", columns, (_row(one, now) for one in found)))


@recur.command(cls=Command)
@click.argument("jid")
@pass_shell
def show(shell: Shell, jid: str) -> None:
    """Everything about a recurring job.

    Example: stanchion recur show hourly
    """
    found = shell.client.recurring.get(jid)
    if found is None:
        raise nothing(f"no such recurring job: {name(jid)}")
    rows = [(field, name(str(getattr(found, field)))) for field in found.__struct_fields__]
    shell.answer(found, lambda: shell.table(name(jid), ("", ""), rows))


@recur.command(cls=Command)
@click.argument("jid")
@click.option("--every", "interval", type=float, help="Seconds from one to the next.")
@click.option("--priority", type=float)
@click.option("--retries", type=int)
@click.option("--data", help="JSON.")
@click.option("--klass")
@click.option("--queue")
@click.option("--backlog", type=int)
@pass_shell
def update(shell: Shell, /, jid: str, data: str | None, **options: Any) -> None:
    """Change a recurring job; what is not named stays.

    Example: stanchion recur update hourly --every 1800
    """
    shell.client.recurring.update(jid, data=None if data is None else RawJSON(data), **options)
    shell.answer(jid, f"{name(jid)} changed")


@recur.command(cls=Command)
@click.argument("jids", nargs=-1, required=True, metavar="JID...")
@pass_shell
def remove(shell: Shell, jids: tuple[str, ...]) -> None:
    """Stop recurring jobs. What they spawned stays.

    Example: stanchion recur remove hourly
    """
    for jid in jids:
        shell.client.recurring.stop(jid)
    shell.answer(jids, f"{len(jids)} stopped")


@recur.command(cls=Command)
@click.argument("jid")
@click.argument("tags", nargs=-1, required=True)
@pass_shell
def tag(shell: Shell, jid: str, tags: tuple[str, ...]) -> None:
    """Tag what a recurring job spawns from now on.

    Example: stanchion recur tag hourly report
    """
    found = shell.client.recurring.tag(jid, tags)
    shell.answer(found, name(" ".join(found)))


@recur.command(cls=Command)
@click.argument("jid")
@click.argument("tags", nargs=-1, required=True)
@pass_shell
def untag(shell: Shell, jid: str, tags: tuple[str, ...]) -> None:
    """Take tags from a recurring job.

    Example: stanchion recur untag hourly report
    """
    found = shell.client.recurring.untag(jid, tags)
    shell.answer(found, name(" ".join(found)))


def _row(one: RecurringJob, now: float) -> tuple[str, ...]:
    every = seconds(one.interval)
    return (name(one.jid), name(one.queue), name(one.klass), every, when(one.next_due, now), str(one.count))
