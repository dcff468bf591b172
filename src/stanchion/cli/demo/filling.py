"""Putting the demo's jobs: the files, the packages that wait for them, the report that waits for the packages."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import NamedTuple

from stanchion.cli.demo.library import packages
from stanchion.cli.demo.pipeline import SourceFile, package, report, sample
from stanchion.client.sync.client import Client
from stanchion.commands import Put
from stanchion.tasks.registry import name_of

BULK = 500


class Filled(NamedTuple):
    """What was put: how many of each, and the jid of the report's job."""

    files: int
    packages: int
    report: str


def fill(client: Client, root: Path, report_path: Path) -> Filled:
    """Put everything, in bulk, and start the sampling."""
    files: list[Put] = []
    package_jobs: list[Put] = []
    for name, paths in packages(root).items():
        puts = [_file(client, root, path) for path in paths]
        files += puts
        jids = [put.jid for put in puts]
        waits = package.options(depends=jids, on_dependency_failure="run", tags=["demo", f"package:{name}"])
        package_jobs.append(waits.job(name, jids))
    waited_for = [put.jid for put in package_jobs]
    last = report.options(depends=waited_for, on_dependency_failure="run", tags=["demo"]).job(waited_for, str(report_path))
    puts = [*files, *package_jobs, last]
    for start in range(0, len(puts), BULK):
        client.put_many(puts[start : start + BULK])
    sampler = sample.job()
    client.queues["sampler"].recur(sampler.klass, {"args": [], "kwargs": {}}, interval=1.0, jid="sampler", backlog=1)
    return Filled(len(files), len(package_jobs), last.jid)


def _file(client: Client, root: Path, path: str) -> Put:
    return client.queues["parse"].new(
        name_of(SourceFile), {"root": str(root), "file": path}, jid=f"file-{uuid.uuid4().hex[:12]}", retries=0, tags=["demo"]
    )
