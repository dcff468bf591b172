"""Finding jobs again: tag, track."""

from __future__ import annotations

import click

from stanchion.cli.shell import Command, Shell, pass_shell
from stanchion.cli.text import name


@click.group()
def tag() -> None:
    """Tags of jobs: add, remove, list the jobs that bear one, or the most frequent ones."""


@tag.command(cls=Command)
@click.argument("jid")
@click.argument("tags", nargs=-1, required=True)
@pass_shell
def add(shell: Shell, jid: str, tags: tuple[str, ...]) -> None:
    """Tag a job.

    Example: stanchion tag add my-job urgent
    """
    found = shell.client.jobs[jid].tag(*tags)
    shell.answer(found, name(" ".join(found)))


@tag.command(cls=Command)
@click.argument("jid")
@click.argument("tags", nargs=-1, required=True)
@pass_shell
def remove(shell: Shell, jid: str, tags: tuple[str, ...]) -> None:
    """Take tags from a job.

    Example: stanchion tag remove my-job urgent
    """
    found = shell.client.jobs[jid].untag(*tags)
    shell.answer(found, name(" ".join(found)))


@tag.command("jobs", cls=Command)
@click.argument("tag")
@click.option("--offset", default=0, type=click.IntRange(0), help="How many to pass over.")
@click.option("--count", default=25, show_default=True, type=click.IntRange(0), help="How many to list.")
@pass_shell
def tagged(shell: Shell, tag: str, offset: int, count: int) -> None:
    """List the jobs that bear a tag.

    Example: stanchion tag jobs urgent
    """
    page = shell.client.tags.page(tag, offset=offset, count=count)
    shell.answer(page, lambda: shell.table(f"{name(tag)}: {page.total} jobs", ("jid",), ((name(jid),) for jid in page.jobs)))


@tag.command(cls=Command)
@click.option("--count", default=25, show_default=True, type=click.IntRange(0), help="How many to list.")
@pass_shell
def top(shell: Shell, count: int) -> None:
    """The tags that two or more jobs bear, most frequent first.

    Example: stanchion tag top
    """
    tags = shell.client.tags.top(count=count)
    totals = [(name(one), shell.client.tags.page(one, count=0).total) for one in tags]
    shell.answer(tags, lambda: shell.table("tags", ("tag", "jobs#"), totals))


@click.group()
def track() -> None:
    """Watch jobs: a tracked job publishes events of its own (see events)."""


@track.command("add", cls=Command)
@click.argument("jids", nargs=-1, required=True, metavar="JID...")
@pass_shell
def track_add(shell: Shell, jids: tuple[str, ...]) -> None:
    """Watch jobs.

    Example: stanchion track add my-job
    """
    for jid in jids:
        shell.client.jobs[jid].track()
    shell.answer(jids, f"{len(jids)} tracked")


@track.command("remove", cls=Command)
@click.argument("jids", nargs=-1, required=True, metavar="JID...")
@pass_shell
def track_remove(shell: Shell, jids: tuple[str, ...]) -> None:
    """Watch jobs no longer.

    Example: stanchion track remove my-job
    """
    for jid in jids:
        shell.client.jobs[jid].untrack()
    shell.answer(jids, f"{len(jids)} no longer tracked")


@track.command("list", cls=Command)
@pass_shell
def track_list(shell: Shell) -> None:
    """The jobs that are watched, and how they stand.

    Example: stanchion track list
    """
    found = shell.client.tracked.get()
    rows = [(name(job.jid), str(job.state), name(job.queue)) for job in found.jobs] + [
        (name(j), "gone", "") for j in found.expired
    ]
    shell.answer(found, lambda: shell.table("tracked", ("jid", "state", "queue"), rows))
