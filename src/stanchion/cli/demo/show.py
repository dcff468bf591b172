"""What the demo shows: a progress bar while it runs, and its findings at the end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from stanchion.cli.charts import histogram, seconds
from stanchion.cli.demo.filling import Filled
from stanchion.cli.demo.pipeline import QUEUES
from stanchion.client.sync.client import Client
from stanchion.records import Job
from stanchion.states import State

LOOK_SECONDS = 0.1
WORKED = tuple(queue for queue in QUEUES if queue != "sampler")


def watch(console: Console, client: Client, filled: Filled, trouble: Callable[[], str | None]) -> str | None:
    """Draw the progress until the report is written; what went wrong if the workers gave up before."""
    total = filled.files + filled.packages + 1
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("starting", total=total)
        while True:
            line, left = _line(client, total)
            progress.update(bar, description=line, completed=total - left)
            job = client.jobs[filled.report].get()
            if job is not None and job.state in (State.COMPLETE, State.FAILED):
                return None
            if (wrong := trouble()) is not None:
                return wrong
            time.sleep(LOOK_SECONDS)


def findings(console: Console, client: Client, filled: Filled, report: Path, took: float) -> None:
    """Totals, failures with an example, how long jobs waited and ran, and where the report is."""
    totals = json.loads(report.read_text(encoding="utf-8"))["totals"]
    console.print(
        f"\n{filled.files} files and {filled.packages} packages in {seconds(took)}: {totals['lines']:,} lines,"
        f" {totals['functions']:,} functions, {totals['classes']:,} classes, {totals['imports']:,} imports"
    )
    _failures(console, client)
    for queue in WORKED:
        stats = client.queues[queue].stats()
        console.print(histogram(f"\n{queue}: wait", stats.wait))
        console.print(histogram(f"{queue}: run", stats.run))
    _samples(console, client)


def _line(client: Client, total: int) -> tuple[str, int]:
    counts = [client.queues[queue].counts() for queue in WORKED]
    waiting = sum(one.waiting + one.scheduled + one.depends + one.throttled for one in counts)
    running = sum(one.running + one.stalled for one in counts)
    failed = sum(client.failures.groups().values())
    done = total - waiting - running - failed
    return f"waiting {waiting:>5}  running {running:>2}  done {done:>5}  failed {failed:>3}", waiting + running


def _failures(console: Console, client: Client) -> None:
    groups = client.failures.groups()
    if not groups:
        return
    table = Table(title="failed, by group", title_justify="left", title_style="bold")
    table.add_column("group")
    table.add_column("jobs", justify="right")
    table.add_column("for example")
    for group, count in groups.items():
        (job,) = client.jobs.get(*client.failures.page(group, limit=1).jobs)
        table.add_row(Text(group), str(count), Text(_example(job)))
    console.print(table)


def _example(job: Job) -> str:
    message = job.failure.message.strip().splitlines()[-1] if job.failure else ""
    return f"{json.loads(job.data).get('file', job.jid)}: {message}"[:100]


def _samples(console: Console, client: Client) -> None:
    """How the first queue drained, as the recurring job saw it."""
    template = client.recurring.get("sampler")
    jids = [f"sampler-{number + 1}" for number in range(template.count if template else 0)]
    waiting = [json.loads(job.result).get("parse", 0) for job in client.jobs.get(*jids) if job.result]
    if waiting:
        console.print(f"\nwaiting in parse, sampled each second by a recurring job: {' '.join(map(str, waiting))}")
