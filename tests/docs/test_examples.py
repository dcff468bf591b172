"""Every Python block of the README and the docs runs, page by page, and prints what the page says it prints."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if "```python" in page.read_text()]
FILE = re.compile(r"Write `(\w+\.py)`:\n\n$")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```output\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


class Block(NamedTuple):
    """A block of code, where it starts, and what it should print."""

    line: int
    code: str
    output: str | None
    file: str | None
    """The file that the reader is told to write it to: then it is imported, not run."""


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    for found in BLOCK.finditer(text):
        file = FILE.search(text, max(0, found.start() - 50), found.start())
        yield Block(text.count("\n", 0, found.start()) + 2, found[1], found[2], file[1] if file else None)


@pytest.fixture
def page_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A module for the names of one page, in an empty folder."""
    module = ModuleType("page")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    known = set(sys.modules)
    monkeypatch.delenv("STANCHION_URL", raising=False)
    monkeypatch.setitem(sys.modules, "page", module)
    yield module
    for app in [value for value in vars(module).values() if type(value).__name__ in ("App", "Client")]:
        app.close()
    for name in [name for name in sys.modules.keys() - known if (tmp_path / f"{name}.py").exists()]:
        del sys.modules[name]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(page: Path, page_module: ModuleType) -> None:
    for block in blocks(page):
        if block.file:
            Path(block.file).write_text(block.code)
            continue
        printed = io.StringIO()
        code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, vars(page_module))
        if block.output is not None:
            assert printed.getvalue() == block.output, f"{page.name}:{block.line}"


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert missing == []
