"""Every engine that the specification holds for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stanchion.client.open import open_engine
from stanchion.engine.contract import Engine
from tests.spec.rig import Rig

ENGINES: dict[str, Callable[[Path], str]] = {
    "sqlite-file": lambda folder: f"sqlite:///{folder}/jobs.db?durability=fast",
    "sqlite-memory": lambda folder: "sqlite://",
}


# The quick run holds one engine to the specification, the whole run all of them.
QUICK = "sqlite-memory"
PARAMS = [pytest.param(name, marks=() if name == QUICK else pytest.mark.slow) for name in ENGINES]


@pytest.fixture(params=PARAMS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    engine = open_engine(ENGINES[request.param](tmp_path))
    yield engine
    engine.close()


@pytest.fixture
def q(engine: Engine) -> Rig:
    return Rig(engine)
