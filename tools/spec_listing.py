"""Which sentence of the specification has which tests.

``python tools/spec_listing.py`` lists every sentence with the number of tests that name it, and fails where one has none, or where
a test names a sentence that does not exist. ``--missing`` lists only those.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SENTENCE = re.compile(r"^- \[([a-z0-9.-]+)\] (.+?)(?=\n- \[|\n\n|\Z)", re.MULTILINE | re.DOTALL)


def sentences() -> dict[str, str]:
    """The sentences of the specification by id."""
    text = (ROOT / "docs" / "specification.md").read_text()
    return {name: " ".join(sentence.split()) for name, sentence in SENTENCE.findall(text)}


def named() -> Iterator[str]:
    """The ids that tests name, once for each test."""
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "spec":
                        yield from (argument.value for argument in decorator.args if isinstance(argument, ast.Constant))


def main(arguments: list[str]) -> int:
    known, tests = sentences(), Counter(named())
    missing = [name for name in known if name not in tests]
    strangers = sorted(tests.keys() - known.keys())
    if "--missing" not in arguments:
        for name, sentence in known.items():
            print(f"{tests[name]:3}  {name:28} {sentence[:90]}")
    print(f"{len(known)} sentences, {len(missing)} without a test, {len(strangers)} named by tests but not there")
    for name in missing:
        print(f"  no test: {name}")
    for name in strangers:
        print(f"  no sentence: {name}")
    return 1 if missing or strangers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
