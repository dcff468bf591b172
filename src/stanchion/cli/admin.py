"""The store itself: workers, config, throttles, events, fsck, version, completion."""

from __future__ import annotations

import time

import click
from click.shell_completion import get_completion_class

import stanchion
from stanchion.cli.exits import FOUND
from stanchion.cli.shell import Command, Shell, pass_shell
from stanchion.cli.text import clock, name, safe, when


@click.command(cls=Command)
@click.argument("worker", required=False)
@pass_shell
def workers(shell: Shell, worker: str | None) -> None:
    """The workers that were seen lately, or the jobs that one of them holds.

    Example: stanchion workers
    """
    client, now = shell.client, time.time()
    if worker is None:
        found = client.workers.counts()
        rows = [(name(one.name), one.jobs, one.stalled, when(one.seen, now)) for one in found]
        shell.answer(found, lambda: shell.table("workers", ("worker", "jobs#", "lapsed#", "seen"), rows))
        return
    held = client.workers.jobs(worker)
    jobs = [(name(jid), "running") for jid in held.jobs] + [(name(jid), "lapsed") for jid in held.stalled]
    shell.answer(held, lambda: shell.table(name(worker), ("jid", ""), jobs))


@click.group()
def config() -> None:
    """Options, stored with the queues, for everyone, from the moment they are set."""


@config.command("get", cls=Command)
@click.argument("option")
@pass_shell
def config_get(shell: Shell, option: str) -> None:
    """What an option is set to, or its default.

    Example: stanchion config get heartbeat
    """
    value = shell.client.config.get(option)
    shell.answer(value, "" if value is None else str(value))


@config.command("set", cls=Command)
@click.argument("option")
@click.argument("value")
@pass_shell
def config_set(shell: Shell, option: str, value: str) -> None:
    """Set an option.

    Example: stanchion config set mail-max-concurrency 4
    """
    shell.client.config.set(option, value)
    shell.answer({option: shell.client.config.get(option)}, f"{name(option)} is {shell.client.config.get(option)}")


@config.command("unset", cls=Command)
@click.argument("option")
@pass_shell
def config_unset(shell: Shell, option: str) -> None:
    """Give an option its default again.

    Example: stanchion config unset heartbeat
    """
    shell.client.config.unset(option)
    shell.answer({option: shell.client.config.get(option)}, f"{name(option)} is {shell.client.config.get(option)}")


@config.command("list", cls=Command)
@pass_shell
def config_list(shell: Shell) -> None:
    """Every option that has a default or was set.

    Example: stanchion config list
    """
    found = shell.client.config.all()
    shell.answer(
        found, lambda: shell.table("config", ("option", "value"), ((name(key), value) for key, value in found.items()))
    )


@click.group()
def throttles() -> None:
    """Named limits on how many jobs run at once, across queues."""


@throttles.command("set", cls=Command)
@click.argument("id")
@click.argument("maximum", type=int)
@click.option("--for", "expiration", type=float, default=0.0, help="Seconds that it lasts; for good unless given.")
@pass_shell
def throttle_set(shell: Shell, id: str, maximum: int, expiration: float) -> None:
    """Let at most so many jobs with this throttle run at once; 0: no limit.

    Example: stanchion throttles set api 2
    """
    shell.client.throttles.set(id, maximum, expiration=expiration)
    shell.answer(shell.client.throttles.get(id), f"{name(id)}: at most {maximum}")


@throttles.command("list", cls=Command)
@pass_shell
def throttle_list(shell: Shell) -> None:
    """Every limit that is set, with who holds a place and who waits.

    Example: stanchion throttles list
    """
    client = shell.client
    found = client.throttles.all()
    rows = [
        (name(one.id), one.maximum, len(client.throttles.locks(one.id)), len(client.throttles.pending(one.id)))
        for one in found
    ]
    shell.answer(found, lambda: shell.table("throttles", ("throttle", "maximum#", "running#", "waiting#"), rows))


@throttles.command("show", cls=Command)
@click.argument("id")
@pass_shell
def throttle_show(shell: Shell, id: str) -> None:
    """Who holds a place of a throttle, and who waits for one, in their order.

    Example: stanchion throttles show api
    """
    locks, pending = shell.client.throttles.locks(id), shell.client.throttles.pending(id)
    rows = [(name(jid), "running") for jid in locks] + [(name(jid), "waiting") for jid in pending]
    shell.answer({"locks": locks, "pending": pending}, lambda: shell.table(name(id), ("jid", ""), rows))


@throttles.command("delete", cls=Command)
@click.argument("id")
@pass_shell
def throttle_delete(shell: Shell, id: str) -> None:
    """Remove a limit; all that waited for it come back in line.

    Example: stanchion throttles delete api
    """
    shell.client.throttles.delete(id)
    shell.answer(id, f"{name(id)}: no limit")


@throttles.command("release", cls=Command)
@click.argument("id")
@click.argument("jids", nargs=-1, required=True, metavar="JID...")
@pass_shell
def throttle_release(shell: Shell, id: str, jids: tuple[str, ...]) -> None:
    """Take places from jobs by hand.

    Example: stanchion throttles release api my-job
    """
    shell.client.throttles.release(id, *jids)
    shell.answer(jids, f"{len(jids)} released")


@click.command(cls=Command)
@click.argument("channels", nargs=-1)
@click.option("--count", type=click.IntRange(1), help="End after so many.")
@pass_shell
def events(shell: Shell, channels: tuple[str, ...], count: int | None) -> None:
    """What happens, as it happens, in any process, until Ctrl-C: all channels, or those named.

    Channels: log; w:WORKER; for tracked jobs put, popped, stalled, completed, failed, canceled.

    Example: stanchion events log
    """
    with shell.client.events.subscribe(*channels) as subscription:
        if not shell.as_json:
            click.echo("listening; Ctrl-C ends", err=True)
        for number, event in enumerate(subscription, 1):
            line = f"{clock(time.time())}  {name(safe(event.channel).plain)}  {name(safe(event.message).plain)}"
            shell.answer(event, line)
            if number == count:
                return


@click.command(cls=Command)
@click.option("--repair", is_flag=True, help="Mend what can be mended without a guess.")
@pass_shell
def fsck(shell: Shell, repair: bool) -> None:
    """Check that the whole state is sound: every record agrees with every collection and index, and the file is whole.

    Example: stanchion fsck --repair
    """
    found = shell.client.check(fix=repair)
    left = [finding for finding in found if not finding.mended]
    rows = [(one.code, name(one.subject), one.message, "mended" if one.mended else "") for one in found]
    if found and not shell.as_json:
        shell.console.print(shell.table("findings", ("code", "about", "what", ""), rows))
    shell.answer(found, f"{len(found)} findings, {len(found) - len(left)} mended" if found else "sound")
    if left:
        raise click.exceptions.Exit(FOUND)


@click.command(cls=Command)
@pass_shell
def version(shell: Shell) -> None:
    """The version of Stanchion.

    Example: stanchion version
    """
    shell.answer(stanchion.__version__, stanchion.__version__)


@click.command(cls=Command)
@click.argument("shell_name", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell_name: str) -> None:
    """Print what a shell needs to complete commands.

    Example: eval "$(stanchion completion bash)"
    """
    kind = get_completion_class(shell_name)
    root = click.get_current_context().find_root().command
    if kind is not None:
        click.echo(kind(root, {}, "stanchion", "_STANCHION_COMPLETE").source())
