"""The command line: ``stanchion``. A file for each noun; what they share is in ``shell``."""

from __future__ import annotations

import click

from stanchion.cli import admin, jobs, labels, moving, queues
from stanchion.cli.demo.command import demo
from stanchion.cli.doctor import doctor
from stanchion.cli.recur import recur
from stanchion.cli.script import script
from stanchion.cli.shell import Group, Shell, exits_help
from stanchion.cli.worker import worker


@click.group(cls=Group, epilog=exits_help(), context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--url", help="Where the queues are, such as sqlite:///jobs.db. Unless given: STANCHION_URL, else your data folder."
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
@click.pass_context
def main(context: click.Context, url: str | None, as_json: bool) -> None:
    """Stanchion: the job queue that never guesses whether your worker is dead."""
    shell = context.ensure_object(Shell)
    shell.url, shell.as_json = url, as_json


for command in (
    *(worker, demo),
    *(queues.queues, queues.jobs, queues.stats, queues.failed, queues.unfail, queues.pause, queues.unpause, queues.forget),
    *(jobs.put, jobs.show, jobs.retry, jobs.cancel, jobs.move, jobs.priority, jobs.timeout, jobs.log, jobs.depends),
    *(labels.tag, labels.track, recur),
    *(admin.workers, admin.config, admin.throttles, admin.events, admin.version, admin.completion),
    *(admin.fsck, doctor, moving.migrate, script),
):
    main.add_command(command)
