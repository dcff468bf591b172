"""The public API as a type checker sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

TYPED = Path(__file__).parent / "typed.py"


@pytest.mark.slow
def test_wrong_calls_are_refused_and_right_ones_accepted() -> None:
    import mypy.api  # here, since it takes two seconds that the quick run need not spend

    output, _, _ = mypy.api.run(["--strict", "--no-error-summary", str(TYPED)])
    found = {int(line.split(":")[1]) for line in output.splitlines() if ": error:" in line}
    marked = {number for number, line in enumerate(TYPED.read_text().splitlines(), 1) if line.endswith("# refused")}
    assert found == marked, output
