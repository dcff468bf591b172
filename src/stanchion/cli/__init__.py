"""The command line: ``stanchion``."""

from __future__ import annotations

import click

from stanchion.cli.demo.command import demo
from stanchion.cli.worker import worker


@click.group()
def main() -> None:
    """Stanchion: the job queue that never guesses whether your worker is dead."""


main.add_command(demo)
main.add_command(worker)
