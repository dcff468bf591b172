"""The doctor."""

from __future__ import annotations

import click

from stanchion.cli.exits import FOUND
from stanchion.cli.shell import Command, Shell, pass_shell
from stanchion.client.doctor import examine
from stanchion.client.open import default_url


@click.command(cls=Command)
@click.argument("url", required=False)
@pass_shell
def doctor(shell: Shell, url: str | None) -> None:
    """What a store is like, what is wrong with it, and how to mend that.

    Example: stanchion doctor redis://localhost/0
    """
    report = examine(url or shell.url or default_url())
    if not shell.as_json:
        tables = (
            (report.url, ("fact", ""), [(name, str(value)) for name, value in report.facts.items()]),
            ("in all queues", ("", "how many#"), list(report.totals.items())),
            ("advice", ("code", "what", "what to do"), [(one.code, one.message, one.remedy) for one in report.advice]),
        )
        for title, columns, rows in tables:
            if rows:
                shell.console.print(shell.table(title, columns, rows))
    wrong = sum(one.wrong for one in report.advice)
    shell.answer(report, "healthy" if report.healthy else f"{wrong} things are wrong")
    if not report.healthy:
        raise click.exceptions.Exit(FOUND)
