"""Every engine that the specification holds for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from stanchion.client.open import open_async_engine, open_engine
from stanchion.engine.contract import Engine
from tests.model.engine import ModelEngine
from tests.servers import SHARED, binaries, old_binaries
from tests.spec.rig import Rig


class Awaited:
    """An engine for callers that await, for tests that do not."""

    def __init__(self, url: str) -> None:
        self._runner = asyncio.Runner()
        self._engine = self._runner.run(self._open(url))
        self.capabilities = self._engine.capabilities

    async def _open(self, url: str) -> Any:
        return open_async_engine(url)

    def run(self, *args: Any, **options: Any) -> Any:
        return self._runner.run(self._engine.run(*args, **options))

    def dump(self, **options: Any) -> Any:
        return self._runner.run(self._engine.dump(**options))

    def subscribe(self, channels: Sequence[str]) -> AwaitedSubscription:
        return AwaitedSubscription(self._runner, self._runner.run(self._engine.subscribe(channels)))

    def close(self) -> None:
        self._runner.run(self._engine.close())
        self._runner.close()


class AwaitedSubscription:
    """Its events."""

    def __init__(self, runner: asyncio.Runner, subscription: Any) -> None:
        self._runner = runner
        self._subscription = subscription

    def get(self, timeout: float | None = None) -> Any:
        return self._runner.run(self._subscription.get(timeout))

    def __enter__(self) -> AwaitedSubscription:
        return self

    def __exit__(self, *exc: object) -> None:
        self._runner.run(self._subscription.close())


ENGINES: dict[str, Callable[[Path], Any]] = {
    "sqlite-file": lambda folder: open_engine(f"sqlite:///{folder}/jobs.db?durability=fast"),
    "sqlite-memory": lambda folder: open_engine("sqlite://"),
    # The model that random commands compare engines with must do what the specification says, too.
    "model": lambda folder: ModelEngine(),
    "valkey": lambda folder: open_engine(SHARED.url("valkey")),
    "valkey-async": lambda folder: Awaited(SHARED.url("valkey")),
    "valkey-script": lambda folder: open_engine(f"{SHARED.url('valkey')}&face=script"),
    "cluster": lambda folder: open_engine(SHARED.url("cluster")),
    **({"redis": lambda folder: open_engine(SHARED.url("redis"))} if "redis" in binaries() else {}),
    **({"redis6-script": lambda folder: open_engine(f"{SHARED.url('redis6')}&face=script")} if old_binaries() else {}),
}


# The quick run holds one engine and the model to the specification, the whole run all of them.
QUICK = ("sqlite-memory", "model")
PARAMS = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in ENGINES]


@pytest.fixture(scope="session", autouse=True)
def servers() -> Iterator[None]:
    yield
    SHARED.remove()


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
