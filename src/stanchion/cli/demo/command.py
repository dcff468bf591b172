"""The command ``stanchion demo``."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import click
from rich.console import Console

from stanchion.cli.demo.crew import Crew
from stanchion.cli.demo.filling import fill
from stanchion.cli.demo.library import library
from stanchion.cli.demo.show import findings, watch
from stanchion.client.sync.client import Client


@click.command()
@click.option("--keep", is_flag=True, help="Leave the database, and say how to look into it.")
@click.option("--workers", type=click.IntRange(1, 64), default=None, help="Worker processes; one per CPU unless given.")
@click.option(
    "--library",
    "root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of Python files to index.",
)
def demo(keep: bool, workers: int | None, root: Path | None) -> None:
    """See the queue at work: index the Python files of this machine's own standard library.

    One job a file parses it; those with many functions go on to a second queue; a job a package waits for its files, and the report
    for all packages. Files that are no Python fail by themselves. A recurring job samples the queues each second.

    Example: stanchion demo --keep
    """
    console = Console()
    folder = Path(tempfile.mkdtemp(prefix="stanchion-demo-"))
    url = f"sqlite:///{folder / 'demo.db'}"
    try:
        wrong = _run(console, url, root or library(), folder / "report.json", workers or min(4, os.cpu_count() or 1))
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    if wrong is not None:
        raise click.ClickException(f"the workers gave up:\n{wrong}")
    if keep:
        _say_kept(console, url, folder)


def _run(console: Console, url: str, root: Path, report: Path, workers: int) -> str | None:
    with Client(url) as client:
        began = time.monotonic()
        filled = fill(client, root, report)
        console.print(
            f"Indexing {root}: {filled.files} files in {filled.packages} packages,"
            f" put into {url} in {time.monotonic() - began:.2f} s; {workers} worker processes."
        )
        with Crew(url, workers) as crew:
            wrong = watch(console, client, filled, crew.trouble)
        if wrong is None:
            findings(console, client, filled, report, time.monotonic() - began)
        return wrong


def _say_kept(console: Console, url: str, folder: Path) -> None:
    console.print(f"\nThe report is {folder / 'report.json'}; the database stays. Look into it:", soft_wrap=True)
    for command in ("queues", "failed", "failed parse-SyntaxError", "stats parse", "tag top", "workers", "fsck"):
        console.print(f"  stanchion --url {url} {command}", soft_wrap=True)
