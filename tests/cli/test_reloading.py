"""``stanchion worker --reload`` runs the code as it is now."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stanchion import Client
from tests.worker.waiting import until

CODE = """
from stanchion import App
app = App()

@app.task
def answer() -> str:
    return "{}"
"""


@pytest.mark.slow
def test_changed_code_is_run(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db?durability=fast"
    code = tmp_path / "answers.py"
    code.write_text(CODE.format("old"))
    command = [sys.executable, "-m", "stanchion", "--url", url, "worker", "answers:app", "--threads", "1", "--reload"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        with Client(url) as client:

            def answers(text: str) -> bool:
                jid = client.queues["default"].put("answers.answer", {"args": [], "kwargs": {}})
                until(lambda: client.jobs.get(jid)[0].state == "complete")
                return client.jobs.get(jid)[0].result == f'"{text}"'

            assert answers("old")
            code.write_text(CODE.format("new"))
            until(lambda: answers("new"))
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(20)
    assert not client_processes(process.pid)


def client_processes(group: int) -> list[str]:
    """What is left of a process group."""
    found = subprocess.run(["ps", "-o", "pid=", "--sid", str(group)], capture_output=True, text=True, check=False)
    return found.stdout.split()
