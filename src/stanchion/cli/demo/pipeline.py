"""The jobs of the demo.

``SourceFile`` goes through two queues: ``parse`` reads a file, and ``measure`` looks at the functions of those that have many. A
package's job runs once all its files are done, also when some of them could not be parsed; the report once all packages are.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stanchion.tasks import App
from stanchion.worker import ActiveJob

QUEUES = ("sampler", "parse", "measure", "packages", "report")
"""In the order in which they are served."""

MANY = 20
"""From so many functions on, a file goes on to be measured."""

COUNTED = ("lines", "classes", "functions", "imports")

app = App()


@app.register
class SourceFile:
    """One file. Its data names it: {"root": …, "file": …}."""

    @staticmethod
    def parse(job: ActiveJob) -> dict[str, Any] | None:
        """Count what the file defines and imports. A file that is no Python fails, by itself, under what was raised."""
        source = Path(job.data["root"], job.data["file"]).read_bytes()
        tree = ast.parse(source, filename=job.data["file"])
        kinds = Counter(type(node) for node in ast.walk(tree))
        counts = {
            "lines": source.count(b"\n"),
            "classes": kinds[ast.ClassDef],
            "functions": kinds[ast.FunctionDef] + kinds[ast.AsyncFunctionDef],
            "imports": kinds[ast.Import] + kinds[ast.ImportFrom],
        }
        if counts["functions"] < MANY:
            return counts
        job.complete(next="measure", data={**job.data, "counts": counts})
        return None

    @staticmethod
    def measure(job: ActiveJob) -> dict[str, Any]:
        """Find the longest function."""
        tree = ast.parse(Path(job.data["root"], job.data["file"]).read_bytes())
        longest = max(_functions(tree), key=_length)
        return {**job.data["counts"], "longest": longest.name, "longest_lines": _length(longest)}


@app.task(queue="packages", retries=1)
def package(name: str, jids: list[str]) -> dict[str, Any]:
    """Add up a package's files."""
    jobs = app.client.jobs.get(*jids)
    results = [json.loads(job.result) for job in jobs if job.result]
    totals = {kind: sum(result[kind] for result in results) for kind in COUNTED}
    longest: dict[str, Any] = max(results, key=lambda result: result.get("longest_lines", 0), default={})
    return {
        "package": name,
        "files": len(results),
        "failed": len(jids) - len(results),
        **totals,
        "longest": longest.get("longest", ""),
        "longest_lines": longest.get("longest_lines", 0),
    }


@app.task(queue="report", retries=1)
def report(jids: list[str], path: str) -> dict[str, int]:
    """Write what was found into a file, and add up everything."""
    packages = sorted(
        (json.loads(job.result) for job in app.client.jobs.get(*jids) if job.result), key=lambda one: -one["lines"]
    )
    totals = {kind: sum(one[kind] for one in packages) for kind in ("files", "failed", *COUNTED)}
    Path(path).write_text(json.dumps({"totals": totals, "packages": packages}, indent=1) + "\n", encoding="utf-8")
    return totals


@app.task(queue="sampler", retries=0)
def sample() -> dict[str, int]:
    """How full the queues are just now."""
    return {counts.name: counts.waiting for counts in app.client.queues.counts()}


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1
