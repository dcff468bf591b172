"""Running a worker anew whenever code changes: for development."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from importlib import import_module

import click

STOP_SECONDS = 2.0
"""How long the jobs that run may go on when code changes; then they are handed back, and the new code has them."""


def run_reloading(arguments: Sequence[str]) -> None:
    """Run ``stanchion`` with these arguments (but --reload), anew each time a Python file of the folder changes; until Ctrl-C."""
    try:
        watchfiles = import_module("watchfiles")
    except ModuleNotFoundError as error:
        raise click.ClickException("--reload needs watchfiles: pip install 'stanchion[reload]'") from error
    words = [word for word in arguments if word != "--reload"]
    watchfiles.run_process(
        ".",
        target=shlex.join([sys.executable, "-m", "stanchion", *words, "--stop-seconds", str(STOP_SECONDS)]),
        target_type="command",
        watch_filter=watchfiles.PythonFilter(),
        callback=lambda changes: click.echo(f"{', '.join(sorted({path for _, path in changes}))} changed", err=True),
        sigint_timeout=STOP_SECONDS + 8,
    )
