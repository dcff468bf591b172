"""What pytest has once Stanchion is installed: the fixture ``stanchion_kit``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from stanchion.tasks.app import App
from stanchion.testing.kit import Kit


@pytest.fixture
def stanchion_kit() -> Iterator[Callable[..., Kit]]:
    """Puts an app under test until the test ends: ``kit = stanchion_kit(app)``, or with ``now=…``."""
    with ExitStack() as kits:

        def enter(app: App, now: float | None = None) -> Kit:
            return kits.enter_context(Kit(app, now))

        yield enter
