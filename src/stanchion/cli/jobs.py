"""Single jobs: put, show, retry, cancel, move, priority, timeout, log, depends."""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Iterator
from typing import Any, TextIO

import click
import msgspec
from rich.console import Group as Lines
from rich.console import RenderableType

from stanchion.cli.shell import Command, Shell, nothing, pass_shell
from stanchion.cli.text import clock, name, pretty, safe, when
from stanchion.client.data import RawJSON
from stanchion.commands import Put
from stanchion.errors import BadArgument, JobNotFound
from stanchion.records import Job
from stanchion.states import State

BULK = 1000


@click.command(cls=Command)
@click.argument("queue")
@click.argument("klass", required=False)
@click.argument("data", default="{}")
@click.option("--jid", help="A name of your own; a fresh one unless given.")
@click.option("--delay", type=float, default=0.0, help="Seconds before it can be popped.")
@click.option("--priority", type=float, help="Higher goes first.")
@click.option("--tag", "tags", multiple=True, help="A tag; repeatable.")
@click.option("--retries", type=int, help="Tries after the first; -1: without end.")
@click.option("--depends", multiple=True, metavar="JID", help="A job to wait for; repeatable.")
@click.option("--throttle", "throttles", multiple=True, help="A throttle it counts for; repeatable.")
@click.option("--on-dependency-failure", "policy", type=click.Choice(["wait", "run", "fail", "cancel"]), default="wait")
@click.option("--if-absent", is_flag=True, help="Leave an existing job of that jid alone.")
@click.option("--many", is_flag=True, help="Read jobs from standard input: a JSON object of put's arguments a line.")
@pass_shell
def put(shell: Shell, /, queue: str, klass: str | None, data: str, many: bool, **options: Any) -> None:
    """Put a job into a queue. DATA is JSON; - reads it from standard input.

    Example: stanchion put mail tasks.send '{"args": ["ada"], "kwargs": {}}' --priority 5
    """
    if many:
        jids = [jid for puts in _read_many(queue, sys.stdin) for jid in shell.client.put_many(puts)]
        shell.answer(jids, f"{len(jids)} put")
        return
    if klass is None:
        raise click.UsageError("name the klass of the job")
    text = sys.stdin.read() if data == "-" else data
    options["on_dependency_failure"] = options.pop("policy")
    options["tags"] = options["tags"] or None
    jid = shell.client.queues[queue].put(klass, RawJSON(text), **options)
    shell.answer(jid, name(jid))


@click.command(cls=Command)
@click.argument("jids", nargs=-1, required=True, metavar="JID...")
@pass_shell
def show(shell: Shell, jids: tuple[str, ...]) -> None:
    """Everything about jobs: data, state, history, dependencies, failure.

    Example: stanchion show 5f0c8e0a3a3c4c0e9f0e1d2c3b4a5968
    """
    found = shell.client.jobs.get(*jids)
    now = time.time()
    if found or shell.as_json:
        shell.answer(found, lambda: Lines(*(_whole(shell, job, now) for job in found)))
    missing = set(jids) - {job.jid for job in found}
    if missing:
        raise nothing(f"no such job: {name(', '.join(sorted(missing)))}")


@click.command(cls=Command)
@click.argument("jids", nargs=-1, required=True, metavar="JID...")
@pass_shell
def retry(shell: Shell, jids: tuple[str, ...]) -> None:
    """Put failed jobs back into their queues, with all their retries. See unfail for a whole group.

    Example: stanchion retry 5f0c8e0a3a3c4c0e9f0e1d2c3b4a5968
    """
    jobs = {job.jid: job for job in shell.client.jobs.get(*jids)}
    for jid in jids:
        if jid not in jobs:
            raise JobNotFound(jid=jid)
        if jobs[jid].state != State.FAILED:
            raise BadArgument(command="retry", argument="jid", problem=f"{jid} is not failed: it is {jobs[jid].state}")
    for jid, job in jobs.items():
        shell.client.jobs[jid].move(job.queue)
    shell.answer(jids, f"{len(jobs)} put back")


@click.command(cls=Command)
@click.argument("jids", nargs=-1, required=True, metavar="JID...")
@pass_shell
def cancel(shell: Shell, jids: tuple[str, ...]) -> None:
    """Remove jobs with every trace, all of them or none. Jobs that others wait for go only together with those.

    Example: stanchion cancel first second
    """
    removed = shell.client.jobs.cancel(*jids)
    shell.answer(removed, f"{len(removed)} removed")


@click.command(cls=Command)
@click.argument("jid")
@click.argument("queue")
@click.option("--delay", type=float, default=0.0, help="Seconds before it can be popped.")
@click.option("--priority", type=float, help="Higher goes first.")
@pass_shell
def move(shell: Shell, jid: str, queue: str, delay: float, priority: float | None) -> None:
    """Move a job to a queue, with all its retries. A worker that runs it loses its lock.

    Example: stanchion move my-job slow --delay 60
    """
    shell.client.jobs[jid].move(queue, delay=delay, priority=priority)
    shell.answer(jid, f"{name(jid)} is in {name(queue)}")


@click.command(cls=Command)
@click.argument("jid")
@click.argument("priority", type=float)
@pass_shell
def priority(shell: Shell, jid: str, priority: float) -> None:
    """Change a job's priority: higher goes first. It keeps its age among its new equals.

    Example: stanchion priority my-job 10
    """
    shell.answer(shell.client.jobs[jid].priority(priority), f"{name(jid)} has priority {priority:g}")


@click.command(cls=Command)
@click.argument("jids", nargs=-1, required=True, metavar="JID...")
@pass_shell
def timeout(shell: Shell, jids: tuple[str, ...]) -> None:
    """Take the locks of running jobs away: they are the next that their queues give out.

    Example: stanchion timeout stuck-job
    """
    for jid in jids:
        shell.client.jobs[jid].timeout()
    shell.answer(jids, f"{len(jids)} timed out")


@click.command(cls=Command)
@click.argument("jid")
@click.argument("message")
@click.argument("data", required=False)
@pass_shell
def log(shell: Shell, jid: str, message: str, data: str | None) -> None:
    """Add an entry to a job's history; DATA is a JSON object with more.

    Example: stanchion log my-job "looked into it" '{"by": "ada"}'
    """
    shell.client.jobs[jid].log(message, None if data is None else RawJSON(data))  # type: ignore[arg-type]
    shell.answer(jid, "noted")


@click.command(cls=Command)
@click.argument("jid")
@click.argument("change", type=click.Choice(["on", "off"]))
@click.argument("others", nargs=-1, metavar="JID...")
@pass_shell
def depends(shell: Shell, jid: str, change: str, others: tuple[str, ...]) -> None:
    """Let a job that waits for others wait for more (on), or no longer for some, or for any (off).

    Example: stanchion depends report off part-3
    """
    handle = shell.client.jobs[jid]
    handle.depend(*others) if change == "on" else handle.undepend(*others)
    job = handle.get()
    left = job.dependencies if job else ()
    shell.answer(left, f"{name(jid)} waits for {len(left)} jobs")


def _read_many(queue: str, lines: TextIO) -> Iterator[list[Put]]:
    """The jobs of the lines, in bulks. A line that is no job is named before any of its bulk is put."""
    bulk: list[Put] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            bulk.append(_put_of(queue, msgspec.json.decode(line)))
        except (msgspec.DecodeError, TypeError, BadArgument) as error:
            raise BadArgument(command="put", argument=f"line {number}", problem=f"is no job: {error}") from error
        if len(bulk) == BULK:
            yield bulk
            bulk = []
    yield bulk


def _put_of(queue: str, fields: Any) -> Put:
    if not isinstance(fields, dict):
        raise TypeError("it is no JSON object")
    data = fields.pop("data", {})
    return Put(**{"queue": queue, "jid": uuid.uuid4().hex, **fields, "data": msgspec.json.encode(data).decode()})


def _whole(shell: Shell, job: Job, now: float) -> RenderableType:
    rows = [
        ("state", f"{job.state}" + (f" in {name(job.queue)}" if job.queue else "")),
        ("klass", name(job.klass)),
        ("data", pretty(job.data)),
        ("result", pretty(job.result) if job.result is not None else ""),
        ("worker", f"{name(job.worker)}, lock until {when(job.expires, now)}" if job.worker else ""),
        ("due", when(job.due, now)),
        ("priority", f"{job.priority:g}"),
        ("retries", "without end" if job.retries < 0 else f"{job.remaining} of {job.retries} left"),
        ("attempts", str(job.attempt)),
        ("tags", name(" ".join(job.tags))),
        ("throttles", name(" ".join(job.throttles))),
        ("waits for", name(" ".join(job.dependencies))),
        ("waited for by", name(" ".join(job.dependents))),
        ("spawned from", name(job.spawned_from_jid or "")),
        ("failed", f"{name(job.failure.group)} {when(job.failure.when, now)}" if job.failure else ""),
        ("", job.failure.message if job.failure else ""),
    ]
    past = [f"{clock(entry.when)}  {entry.what} {_more(entry.more)}" for entry in job.history]
    table = shell.table(name(job.jid), ("", ""), [row for row in rows if row[1]])
    table.show_header = False
    return Lines(table, safe("\n".join(past)))


def _more(more: dict[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in more.items())
