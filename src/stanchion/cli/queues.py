"""Queues: queues, jobs, stats, failed, unfail, pause, unpause, forget."""

from __future__ import annotations

from datetime import UTC, datetime

import click
from rich.console import Group as Lines

from stanchion.cli.charts import histogram
from stanchion.cli.shell import Command, Shell, pass_shell
from stanchion.cli.text import name, safe
from stanchion.commands.queues import LISTINGS

COUNTS = ("waiting", "running", "stalled", "scheduled", "depends", "throttled", "recurring")


@click.command(cls=Command)
@click.argument("queues", nargs=-1)
@pass_shell
def queues(shell: Shell, queues: tuple[str, ...]) -> None:
    """How many jobs are in each state, of all queues or of some.

    Example: stanchion queues mail
    """
    found = tuple(shell.client.queues[queue].counts() for queue in queues) or shell.client.queues.counts()
    rows = [(name(one.name), *(getattr(one, state) for state in COUNTS), "paused" if one.paused else "") for one in found]
    columns = ("queue", *(f"{state}#" for state in COUNTS), "")
    shell.answer(found, lambda: shell.table("queues", columns, rows))


@click.command(cls=Command)
@click.argument("state", type=click.Choice(LISTINGS))
@click.argument("queue", required=False)
@click.option("--offset", default=0, type=click.IntRange(0), help="How many to pass over.")
@click.option("--count", default=25, show_default=True, type=click.IntRange(0), help="How many to list.")
@pass_shell
def jobs(shell: Shell, state: str, queue: str | None, offset: int, count: int) -> None:
    """List the jobs of a queue in a state; complete ones without a queue.

    Example: stanchion jobs waiting mail --count 100
    """
    if (state == "complete") != (queue is None):
        raise click.UsageError("name a queue, but for complete jobs, which are in none")
    client = shell.client
    if queue is None:
        jids = client.jobs.complete(offset=offset, count=count)
    else:
        jids = client.queues[queue].jobs(state, offset=offset, count=count)  # type: ignore[arg-type]
    found = client.jobs.get(*jids)
    rows = [
        (name(job.jid), name(job.klass), f"{job.priority:g}", name(" ".join(job.tags)), name(job.worker)) for job in found
    ]
    shell.answer(jids, lambda: shell.table(f"{state} {queue or ''}", ("jid", "klass", "priority#", "tags", "worker"), rows))


@click.command(cls=Command)
@click.argument("queue")
@click.option("--day", type=click.DateTime(["%Y-%m-%d"]), help="A UTC day, such as 2026-12-01; today unless given.")
@pass_shell
def stats(shell: Shell, queue: str, day: datetime | None) -> None:
    """How long the jobs of a queue waited and ran on one day, and how many failed.

    Example: stanchion stats mail --day 2026-12-01
    """
    date = None if day is None else day.replace(tzinfo=UTC).timestamp()
    found = shell.client.queues[queue].stats(date)
    counters = f"retries {found.retries}, failures {found.failures}, still failed {found.failed}"
    shell.answer(
        found,
        lambda: Lines(
            safe(name(queue)), histogram("wait", found.wait), safe(""), histogram("run", found.run), safe(""), safe(counters)
        ),
    )


@click.command(cls=Command)
@click.argument("group", required=False)
@click.option("--start", default=0, type=click.IntRange(0), help="How many to pass over.")
@click.option("--limit", default=25, show_default=True, type=click.IntRange(0), help="How many to list.")
@pass_shell
def failed(shell: Shell, group: str | None, start: int, limit: int) -> None:
    """The groups of failures, or the failed jobs of one, newest first.

    Example: stanchion failed mail-ConnectionError
    """
    client = shell.client
    if group is None:
        groups = client.failures.groups()
        shell.answer(groups, lambda: shell.table("failed", ("group", "jobs#"), ((name(g), n) for g, n in groups.items())))
        return
    page = client.failures.page(group, start=start, limit=limit)
    found = client.jobs.get(*page.jobs)
    rows = [
        (name(job.jid), name(job.queue), job.failure.message.strip().split("\n")[-1][:100]) for job in found if job.failure
    ]
    title = f"{name(group)}: {page.total} failed"
    shell.answer(page, lambda: shell.table(title, ("jid", "queue", "message"), rows))


@click.command(cls=Command)
@click.argument("queue")
@click.argument("group")
@click.option("--count", default=25, show_default=True, type=click.IntRange(0), help="How many at the most.")
@pass_shell
def unfail(shell: Shell, queue: str, group: str, count: int) -> None:
    """Put failed jobs of a group back into a queue, the longest-failed first.

    Example: stanchion unfail mail mail-ConnectionError --count 1000
    """
    moved = shell.client.queues[queue].unfail(group, count)
    shell.answer(moved, f"{moved} put back")


@click.command(cls=Command)
@click.argument("queues", nargs=-1, required=True)
@pass_shell
def pause(shell: Shell, queues: tuple[str, ...]) -> None:
    """Let queues take jobs but give none out.

    Example: stanchion pause mail
    """
    for queue in queues:
        shell.client.queues[queue].pause()
    shell.answer(queues, f"paused: {name(' '.join(queues))}")


@click.command(cls=Command)
@click.argument("queues", nargs=-1, required=True)
@pass_shell
def unpause(shell: Shell, queues: tuple[str, ...]) -> None:
    """Let queues give out jobs again.

    Example: stanchion unpause mail
    """
    for queue in queues:
        shell.client.queues[queue].unpause()
    shell.answer(queues, f"unpaused: {name(' '.join(queues))}")


@click.command(cls=Command)
@click.argument("queues", nargs=-1, required=True)
@pass_shell
def forget(shell: Shell, queues: tuple[str, ...]) -> None:
    """Drop queues from the list of known ones, until something is put into them.

    Example: stanchion forget old-mail
    """
    for queue in queues:
        shell.client.queues[queue].forget()
    shell.answer(queues, f"forgotten: {name(' '.join(queues))}")
