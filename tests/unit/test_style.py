"""House style that no linter checks: each test lists the offenders, and there must be none."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "stanchion"
WRITTEN = (".ci", "benchmarks", "docs", "examples", "src", "tests", "tools")
TEXT = {".cfg", ".ini", ".jsonl", ".lua", ".md", ".py", ".sh", ".sql", ".toml", ".txt", ".typed", ""}

MAX_FUNCTION_LINES = 60
MAX_MODULE_LINES = 400

# The brackets keep the patterns from finding themselves.
MARKERS = re.compile(r"\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b")
WORKPLACE = re.compile(r"\b[f]arm\b|/[w]ork/|/[r]oot/|\.[l]ibrary/|bash_[j]obs|\b[s]ubagent", re.IGNORECASE)

# Where the outside comes in; every other module must be reached from one of these.
QLESS = "stanchion.compat.qless"
ENTRANCES = (
    "stanchion", "stanchion.__main__", "stanchion.cli", "stanchion.testing", "stanchion.testing.plugin", "stanchion.worker",
    QLESS, f"{QLESS}.workers.forking", f"{QLESS}.workers.greenlet", f"{QLESS}.workers.serial",
)  # fmt: skip

Function = ast.FunctionDef | ast.AsyncFunctionDef


def texts() -> Iterator[Path]:
    """Every text file that people of this project write."""
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.suffix in {".md", ".toml"})
    yield ROOT / "Makefile"
    for folder in WRITTEN:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix in TEXT and "results" not in path.parts:
                yield path


def modules() -> list[Path]:
    """The modules of the package; a list that is empty would let every test pass."""
    found = sorted(SOURCE.rglob("*.py"))
    assert found
    return found


def is_generated(module: Path) -> bool:
    return "generated" in module.read_text().partition("\n")[0].lower()


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{place(path, number)}: {line.strip()}"
        for path in texts()
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if pattern.search(line)
    ]


def nodes_with(module: Path, offends: Callable[[ast.AST], bool]) -> list[str]:
    tree = ast.parse(module.read_text())
    return [place(module, node.lineno) for node in ast.walk(tree) if offends(node)]


def calls_the_terminal(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"print", "breakpoint", "input"}
    )


def is_too_long(node: ast.AST) -> bool:
    return isinstance(node, Function) and node.end_lineno - node.lineno >= MAX_FUNCTION_LINES


def test_no_stray_markers() -> None:
    assert lines_with(MARKERS) == []


def test_no_words_of_one_workplace() -> None:
    assert lines_with(WORKPLACE) == []


def test_only_the_cli_talks_to_the_terminal() -> None:
    library = [module for module in modules() if SOURCE / "cli" not in module.parents]
    assert [found for module in library for found in nodes_with(module, calls_the_terminal)] == []


def test_no_function_is_too_long() -> None:
    assert [found for module in modules() for found in nodes_with(module, is_too_long)] == []


def test_no_module_is_too_long() -> None:
    lengths = {module: len(module.read_text().splitlines()) for module in modules() if not is_generated(module)}
    assert [place(module, length) for module, length in lengths.items() if length > MAX_MODULE_LINES] == []


def test_no_module_is_dead() -> None:
    """A module that no entrance reaches by imports is dead, and so is a whole island of them."""
    graph = grimp.build_graph("stanchion", cache_dir=None)
    reached: set[str] = set()
    ahead = {name for name in ENTRANCES if name in graph.modules}
    while ahead:
        name = ahead.pop()
        reached.add(name)
        package = {name.rpartition(".")[0]} & graph.modules
        ahead |= (graph.find_modules_directly_imported_by(name) | package) - reached
    assert sorted(graph.modules - reached) == []
