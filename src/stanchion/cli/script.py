"""The script for clients of older queues."""

from __future__ import annotations

import click

from stanchion.cli.shell import Command, Shell, pass_shell
from stanchion.client.script import load_script, script_text


@click.command(cls=Command)
@click.argument("dialect", type=click.Choice(["qless", "reqless"]), default="qless")
@click.option("--load", "url", metavar="URL", help="Load it into this server, and tell the digest by which it is called.")
@pass_shell
def script(shell: Shell, dialect: str, url: str | None) -> None:
    """The Lua script that clients of Qless and reqless load in place of their own. It is the same for both.

    Example: stanchion script qless > qless.lua
    """
    if url is None:
        click.echo(script_text(), nl=False)
        return
    digest = load_script(url)
    shell.answer({"dialect": dialect, "digest": digest}, digest)
