"""``stanchion worker``: run the jobs of an app's queues."""

from __future__ import annotations

import importlib
import logging
import sys

import click

from stanchion.cli.reloading import run_reloading
from stanchion.cli.shell import Shell, pass_shell
from stanchion.tasks import App
from stanchion.worker import CannotStart, Worker

MIB = 2**20


@click.command()
@click.argument("app", metavar="MODULE:APP")
@click.option(
    "-q",
    "--queue",
    "queues",
    multiple=True,
    default=("default",),
    show_default=True,
    help="A queue to serve; repeatable. QUEUE=KIND[:N] gives it N jobs at once of its own, as process, thread or async.",
)
@click.option("--threads", type=click.IntRange(1), default=8, show_default=True, help="Jobs at once.")
@click.option("--name", help="The worker's name; host, process and a fresh number unless given.")
@click.option(
    "--stop-seconds", type=click.FloatRange(0), default=30.0, show_default=True, help="Time for jobs to end after SIGTERM."
)
@click.option(
    "--jobs-per-process",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Then a fresh process takes its place.",
)
@click.option("--burst", is_flag=True, help="Stop when the queues are empty.")
@click.option("--max-jobs", type=click.IntRange(1), help="Stop after so many jobs.")
@click.option("--once", "max_jobs", flag_value=1, type=int, help="Stop after one job.")
@click.option(
    "--max-memory", type=click.IntRange(1), help="Stop once it takes so many MiB; fresh processes for those that do."
)
@click.option("--reload", is_flag=True, help="Start anew when a Python file of this folder changes: for development.")
@click.option("--health-file", type=click.Path(dir_okay=False), help="Write there every two seconds whether it is well.")
@click.option("--health-port", type=click.IntRange(0, 65535), help="Answer GET /healthz on this port of this machine.")
@pass_shell
def worker(
    shell: Shell,
    app: str,
    queues: tuple[str, ...],
    threads: int,
    name: str | None,
    stop_seconds: float,
    jobs_per_process: int,
    burst: bool,
    max_jobs: int | None,
    max_memory: int | None,
    reload: bool,
    health_file: str | None,
    health_port: int | None,
) -> None:
    """Run jobs: pop them from the queues, in the order given, and run the app's tasks for them.

    SIGTERM or Ctrl-C stops taking jobs and lets those that run finish; a second one, or SIGQUIT, hands them back at once.
    SIGUSR1 or SIGTSTP: take no more. SIGUSR2: write the stacks of all code. SIGTTIN, SIGTTOU: one job at once more, fewer.

    Example: stanchion worker tasks:app -q mail=async:100 -q thumbs=process:2 -q default
    """
    if reload:
        run_reloading(sys.argv[1:])
        return
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        found = Worker(
            load(app, shell.url),
            queues,
            threads=threads,
            name=name,
            stop_seconds=stop_seconds,
            jobs_per_process=jobs_per_process,
            max_jobs=max_jobs,
            max_memory=None if max_memory is None else max_memory * MIB,
            health_file=health_file,
            health_port=health_port,
        )
        found.run_with_signals(burst=burst)
    except (ValueError, CannotStart, OSError) as error:
        raise click.ClickException(str(error)) from error


def load(path: str, url: str | None) -> App:
    """The app that ``module:name`` names, on another store if a URL is given.

    Modules of the current folder are found, as with ``python -m``.
    """
    module, _, name = path.partition(":")
    sys.path.insert(0, "")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise click.BadParameter(f"there is no module {error.name!r} to import", param_hint="MODULE:APP") from error
    app = getattr(found, name or "app", None)
    if not isinstance(app, App):
        raise click.BadParameter(f"{module} has no stanchion.App called {name or 'app'!r}", param_hint="MODULE:APP")
    if url is not None:
        app.use(url)
    return app
