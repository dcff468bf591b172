"""Every engine that the specification holds for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion.client.open import open_engine
from stanchion.engine.contract import Engine
from tests.model.engine import ModelEngine
from tests.spec.rig import Rig

ENGINES: dict[str, Callable[[Path], Any]] = {
    "sqlite-file": lambda folder: open_engine(f"sqlite:///{folder}/jobs.db?durability=fast"),
    "sqlite-memory": lambda folder: open_engine("sqlite://"),
    # The model that random commands compare engines with must do what the specification says, too.
    "model": lambda folder: ModelEngine(),
}


# The quick run holds one engine and the model to the specification, the whole run all of them.
QUICK = ("sqlite-memory", "model")
PARAMS = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in ENGINES]


@pytest.fixture(params=PARAMS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    if request.param == "model" and request.node.get_closest_marker("large"):
        pytest.skip("the model is plain, not fast")
    engine = ENGINES[request.param](tmp_path)
    yield engine
    engine.close()


@pytest.fixture
def q(engine: Engine) -> Rig:
    return Rig(engine)
