"""What the commands share: the client, where output goes, and how errors end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import click
import msgspec
from rich.console import Console, RenderableType
from rich.table import Table

from stanchion.cli.exits import FOUND, INTERRUPTED, MEANINGS, exit_code
from stanchion.cli.text import safe
from stanchion.client.open import default_url
from stanchion.client.sync.client import Client
from stanchion.errors import StanchionError


class Shell:
    """The command line's own state: which store, and who reads the output."""

    def __init__(self) -> None:
        self.url: str | None = None
        self.as_json = False

    @cached_property
    def client(self) -> Client:
        """The client, opened by the first command that needs it. The default store is named, since nobody asked for it."""
        url = self.url or default_url()
        if self.url is None and "STANCHION_URL" not in os.environ and not self.as_json:
            click.echo(f"using {url}", err=True)
        return Client(url)

    @cached_property
    def console(self) -> Console:
        """Where tables go. Width is only limited on a terminal: what is piped on is not cut."""
        return Console(width=None if sys.stdout.isatty() else 200, highlight=False)

    def answer(self, value: Any, show: Callable[[], RenderableType] | str) -> None:
        """Give an answer: as JSON for programs, else as ``show`` draws or says it."""
        if self.as_json:
            click.echo(msgspec.json.encode(value))
        elif isinstance(show, str):
            click.echo(show)
        else:
            self.console.print(show())

    def table(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
        """A table; columns whose name ends in # hold numbers."""
        table = Table(title=safe(title), title_justify="left", title_style="bold")
        for column in columns:
            table.add_column(column.rstrip("#"), justify="right" if column.endswith("#") else "left", overflow="fold")
        for row in rows:
            table.add_row(*(safe(str(cell)) for cell in row))
        return table


pass_shell = click.make_pass_decorator(Shell, ensure=True)


def nothing(text: str) -> click.exceptions.Exit:
    """Say that what was asked for is not there, and end."""
    click.echo(text, err=True)
    return click.exceptions.Exit(FOUND)


class Command(click.Command):
    """A command that takes --json behind its own name, too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(
            click.Option(["--json", "as_json"], is_flag=True, expose_value=False, callback=_set_json, help="Answer in JSON.")
        )


class Group(click.Group):
    """A group whose errors are one line, and whose exit codes are those of ``exits``."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run, and end the process with the right exit code."""
        kwargs["standalone_mode"] = False
        try:
            sys.exit(super().main(*args, **kwargs) or 0)
        except StanchionError as error:
            sys.exit(_tell(error))
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            sys.exit(INTERRUPTED)
        except BrokenPipeError:
            # Whoever read has gone: nothing is wrong, and nothing can be written any more.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)


def exits_help() -> str:
    """The exit codes, for the help text."""
    return "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in MEANINGS.items()) + "."


def _set_json(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(Shell).as_json = True


def _tell(error: StanchionError) -> int:
    if "--json" in sys.argv:
        details = {name: str(value) for name, value in error.details.items()}
        click.echo(msgspec.json.encode({"error": error.code, "message": str(error), "details": details}), err=True)
    else:
        click.echo(f"stanchion: {safe(str(error)).plain}", err=True)
    return exit_code(error)
