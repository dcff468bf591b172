"""What a history keeps."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.rules.retention import history_excess
from tests.unit.rules.golden import cases


@pytest.mark.parametrize("case", cases("history"), ids=lambda case: f"{case['length']} of {case['limit']}")
def test_golden(case: Any) -> None:
    assert history_excess(case["length"], case["limit"]) == case["excess"]
