"""A worker beside a program's own threads, or beside its event loop."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from stanchion import App, Worker


@pytest.fixture
def app(tmp_path: Path) -> App:
    return App(f"sqlite:///{tmp_path}/jobs.db?durability=fast")


def test_beside_a_thread(app: App) -> None:
    ran = threading.Event()

    @app.task
    def work() -> None:
        ran.set()

    with Worker(app, threads=1):
        work.put()
        assert ran.wait(20)
    assert app.client.workers.counts() == ()  # it has said goodbye
    app.close()


def test_beside_an_event_loop_which_goes_on_while_jobs_come_to_their_end(app: App) -> None:
    begun, may_end = threading.Event(), threading.Event()
    turns: list[int] = []

    @app.task
    def work() -> str:
        begun.set()
        may_end.wait(20)
        return "done"

    async def main() -> Any:
        async with Worker(app, threads=1):
            handle = await work.aput()
            await asyncio.to_thread(begun.wait, 20)

            async def turn() -> None:
                for number in range(5):
                    await asyncio.sleep(0.01)
                    turns.append(number)
                may_end.set()

            turning = asyncio.create_task(turn())
        await turning
        return handle.get().state

    assert asyncio.run(main()) == "complete"
    assert len(turns) == 5
    app.close()
