"""The real clients qless-py and reqless: unmodified copies, but for the script that they load."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from stanchion.client.script import script_text

SCRIPTS = {"qless": "qless-core/qless.lua", "reqless": "lua/qless.lua"}
"""Where each package has the script that it loads."""

JOBS = '''
import json


class Work:
    """Says who did it, and where."""

    @staticmethod
    def process(job):
        job.data = json.dumps("done") if isinstance(job.data, str) else "done"
        job.complete()

    @staticmethod
    def raising(job):
        raise KeyError("no such thing")
'''
WORKER = """
import sys, {name}
from {name}.workers.serial import SerialWorker
client = {name}.Client(sys.argv[1], hostname=sys.argv[2])
SerialWorker(sys.argv[3].split(","), client, interval=0.01, sandbox=sys.argv[4]).run()
"""


class Place(NamedTuple):
    """A folder with copies of the packages, and with jobs that their workers can import as ``fleet.Work``."""

    folder: Path

    def client(self, name: str, url: str, worker: str) -> Any:
        """A client of a package, with a worker's name."""
        return importlib.import_module(name).Client(url, hostname=worker)

    @contextmanager
    def imported(self) -> Iterator[None]:
        """Within it, these copies are what is imported, whatever else of their names was imported before."""
        before = _taken_out()
        sys.path.insert(0, str(self.folder))
        try:
            yield
        finally:
            sys.path.remove(str(self.folder))
            _taken_out()
            sys.modules.update(before)

    @contextmanager
    def worker(self, name: str, url: str, worker: str, *queues: str) -> Iterator[subprocess.Popen[bytes]]:
        """A process of the package's own serial worker."""
        sandbox = self.folder / f"sandbox-{worker}"
        code = [sys.executable, "-W", "ignore", "-c", WORKER.format(name=name), url, worker, ",".join(queues), str(sandbox)]
        process = subprocess.Popen(code, env=os.environ | {"PYTHONPATH": str(self.folder)}, cwd=self.folder)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def make_place(folder: Path, text: str | None = None) -> Place:
    """Copies of the packages, with our script, or another, in place of theirs."""
    for name, script in SCRIPTS.items():
        shutil.copytree(package_folder(name), folder / name)
        (folder / name / script).write_text(text or script_text())
    (folder / "fleet.py").write_text(JOBS)
    return Place(folder)


def package_folder(name: str) -> Path:
    """Where the package is installed."""
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _taken_out() -> dict[str, Any]:
    """The modules of the packages, which are no longer those that are imported."""
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in SCRIPTS}
