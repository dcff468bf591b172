"""Moving house: all queues from one store to another."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.progress import Progress, TaskID

from stanchion.cli.shell import Command, Shell, pass_shell
from stanchion.client.moving import migrate as move


@click.command(cls=Command)
@click.argument("source", metavar="SOURCE-URL")
@click.argument("target", metavar="TARGET-URL")
@pass_shell
def migrate(shell: Shell, source: str, target: str) -> None:
    """Move all queues, with everything that belongs to them, to another store, which must be empty.

    Pause the queues first, and let no client be at work. Stopped half way, the same command goes on. The source stays as it is.

    Example: stanchion migrate sqlite:///jobs.db redis://localhost/0
    """
    quiet = shell.as_json or not sys.stderr.isatty()
    with Progress(console=Console(stderr=True), transient=True, disable=quiet) as progress:
        bar = progress.add_task("moving")
        moved = move(source, target, lambda done, parts: _show(progress, bar, done, parts))
    shell.answer(
        moved, f"moved and verified; jobs: {moved.jobs}, recurring jobs: {moved.templates}, digest: {moved.digest[:12]}"
    )


def _show(progress: Progress, bar: TaskID, done: int, parts: int) -> None:
    progress.update(bar, completed=done, total=parts)
