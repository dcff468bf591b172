"""The command line on real files."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stanchion import Client, __version__
from stanchion.cli import main
from stanchion.cli.exits import FOUND, MEANINGS, REFUSED, USAGE

Run = Callable[..., Result]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/jobs.db?durability=fast"


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url) as client:
        yield client


@pytest.fixture
def run(url: str, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command; its exit code must be 0 unless another is named."""

    def run(*arguments: str, code: int = 0, input: str | None = None) -> Result:
        monkeypatch.setattr(sys, "argv", ["stanchion", *arguments])
        result = CliRunner().invoke(main, ["--url", url, *arguments], input=input, catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result

    return run


def said(result: Result) -> Any:
    """The one JSON document of an answer."""
    return json.loads(result.stdout)


def test_a_job_from_put_to_cancel(run: Run, client: Client) -> None:
    run("put", "mail", "send", '{"to": "ada"}', "--jid", "a", "--priority", "3", "--tag", "x", "--retries", "1")
    job = client.jobs["a"].get()
    assert job is not None
    assert (job.data, job.priority, job.tags, job.retries) == ('{"to": "ada"}', 3, ("x",), 1)
    assert "waiting in mail" in run("show", "a").output
    assert "1 " in run("queues").output
    run("priority", "a", "9")
    run("log", "a", "seen", '{"by": "ada"}')
    run("move", "a", "slow", "--delay", "5")
    run("tag", "add", "a", "y")
    assert said(run("--json", "show", "a"))[0]["tags"] == ["x", "y"]
    assert said(run("cancel", "a", "--json")) == ["a"]
    run("show", "a", code=FOUND)


def test_put_reads_standard_input(run: Run, client: Client) -> None:
    run("put", "q", "k", "-", "--jid", "a", input='{"big": 1}')
    job = client.jobs["a"].get()
    assert job is not None
    assert job.data == '{"big": 1}'
    lines = "\n".join(json.dumps({"klass": "k", "jid": f"j{n}", "data": n, "tags": ["t"]}) for n in range(2500))
    assert len(said(run("put", "q", "--many", "--json", input=lines))) == 2500
    assert client.queues["q"].length() == 2501
    bad = run("put", "q", "--many", input='{"klass": "k"}\n{"klas": "k"}\n', code=USAGE)
    assert "line 2" in bad.stderr
    assert client.queues["q"].length() == 2501


def test_failures(run: Run, client: Client) -> None:
    for jid in "abc":
        client.queues["q"].put("k", jid=jid)
        job = client.queues["q"].pop("w")
        assert job is not None
        job.fail("q-ValueError", "Traceback\nValueError: no")
    assert said(run("--json", "failed")) == {"q-ValueError": 3}
    assert "ValueError: no" in run("failed", "q-ValueError").output
    run("retry", "a")
    assert "not failed" in run("retry", "b", "a", code=USAGE).stderr
    run("retry", "nobody", code=REFUSED)
    assert said(run("unfail", "r", "q-ValueError", "--json")) == 2
    assert client.queues["r"].length() == 2


def test_lists(run: Run, client: Client) -> None:
    client.queues["q"].put("k", jid="a", tags=["t"])
    client.queues["q"].put("k", jid="b", tags=["t"], depends=["a"])
    assert said(run("--json", "jobs", "waiting", "q")) == ["a"]
    assert said(run("--json", "jobs", "depends", "q")) == ["b"]
    assert said(run("--json", "jobs", "complete")) == []
    run("jobs", "waiting", code=USAGE)
    assert said(run("--json", "tag", "jobs", "t"))["total"] == 2
    assert "t " in run("tag", "top").output
    run("depends", "b", "off", "a")
    assert said(run("--json", "jobs", "waiting", "q")) == ["a", "b"]
    run("track", "add", "a")
    assert "a " in run("track", "list").output
    run("track", "remove", "a")
    client.queues["q"].pop("w")
    assert "w " in run("workers").output
    assert said(run("--json", "workers", "w"))["jobs"] == ["a"]
    run("timeout", "a")
    assert "nothing yet" in run("stats", "q", "--day", "2020-01-01").output
    assert "half within" in run("stats", "q").output


def test_settings(run: Run, client: Client) -> None:
    run("config", "set", "heartbeat", "30")
    assert run("config", "get", "heartbeat").output == "30\n"
    run("config", "unset", "heartbeat")
    assert said(run("--json", "config", "list"))["heartbeat"] == 60
    assert "finite number" in run("config", "set", "heartbeat", "soon", code=USAGE).stderr
    run("throttles", "set", "api", "2")
    assert "api" in run("throttles", "list").output
    run("throttles", "show", "api")
    run("throttles", "release", "api", "nobody")
    run("throttles", "delete", "api")
    run("pause", "q")
    assert client.queues["q"].counts().paused
    run("unpause", "q")
    run("forget", "q")
    run("recur", "add", "q", "k", "--every", "60", "--jid", "r", "--offset", "100")
    run("recur", "update", "r", "--every", "30")
    run("recur", "tag", "r", "t")
    run("recur", "untag", "r", "t")
    assert said(run("--json", "recur", "show", "r"))["interval"] == 30
    assert "r " in run("recur", "list").output
    run("recur", "remove", "r")
    run("recur", "show", "r", code=FOUND)
    assert run("version").output.strip() == __version__
    for shell in ("bash", "zsh", "fish"):
        assert "stanchion" in run("completion", shell).output


def test_fsck(run: Run, client: Client, tmp_path: Path) -> None:
    client.queues["q"].put("k", jid="a", tags=["t"])
    assert run("fsck").output == "sound\n"
    stranger = sqlite3.connect(tmp_path / "jobs.db")
    stranger.execute("DELETE FROM tags")
    stranger.commit()
    stranger.close()
    assert said(run("--json", "fsck", code=FOUND))[0]["subject"] == "a"
    assert "mended" in run("fsck", "--repair").output
    assert run("fsck").output == "sound\n"


@pytest.mark.parametrize("odd", ["[red]x[/red]", "new\nline", "\x1b[31mred", "😀", "-dash", "'quote\"", "x" * 500])
def test_odd_names_break_nothing(run: Run, client: Client, odd: str) -> None:
    client.queues[odd].put(odd, {"text": odd}, jid=odd, tags=[odd])
    for arguments in (["queues"], ["jobs", "waiting", "--", odd], ["show", "--", odd], ["tag", "jobs", "--", odd]):
        output = run(*arguments).output
        assert "\x1b" not in output
    assert said(run("--json", "show", "--", odd))[0]["queue"] == odd


def test_errors_are_a_line_or_a_document(run: Run) -> None:
    assert run("move", "nobody", "q", code=REFUSED).stderr == "stanchion: Job nobody does not exist.\n"
    told = json.loads(run("move", "nobody", "q", "--json", code=REFUSED).stderr)
    assert (told["error"], told["details"]) == ("job-not-found", {"jid": "nobody"})
    run("put", "q", "k", "{bad", code=USAGE)
    run("put", "q", code=USAGE)
    run("bogus", code=USAGE)


def test_every_command_teaches_and_answers_json() -> None:
    def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from commands(command, (*path, name))
            else:
                yield (*path, name), command

    for path, command in commands(main):
        assert "Example: " in (command.help or ""), path
        if path[0] not in ("worker", "demo", "completion"):
            assert "--json" in [option for parameter in command.params for option in parameter.opts], path
    output = CliRunner().invoke(main, ["--help"]).output
    assert all(str(code) in output for code in MEANINGS)


class Running:
    """A command in a process of its own."""

    def __init__(self, url: str, *arguments: str) -> None:
        environment = {**os.environ, "STANCHION_URL": url}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "stanchion", *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.mark.slow
def test_events_end_with_ctrl_c(url: str, client: Client) -> None:
    running = Running(url, "events", "log")
    assert running.process.stderr is not None
    assert running.process.stdout is not None
    assert "listening" in running.process.stderr.readline()
    client.queues["q"].put("k", jid="heard")
    assert "heard" in running.process.stdout.readline()
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(10) == 130
    assert "Traceback" not in running.process.stderr.read()
    running.process.stdout.close()
    running.process.stderr.close()


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(url: str, client: Client) -> None:
    client.put_many([client.queues["q"].new("k") for _ in range(3000)])
    running = Running(url, "jobs", "waiting", "q", "--count", "3000")
    assert running.process.stdout is not None
    running.process.stdout.readline()
    running.process.stdout.close()
    assert running.process.wait(20) == 0
    assert running.process.stderr is not None
    assert running.process.stderr.read() == ""
    running.process.stderr.close()


@pytest.mark.slow
def test_the_demo_on_a_small_library(tmp_path: Path) -> None:
    library = tmp_path / "library"
    (library / "pkg").mkdir(parents=True)
    for n in range(12):
        (library / "pkg" / f"m{n}.py").write_text("import os\n" + "def f(): pass\n" * (n * 3))
    (library / "broken.py").write_text("def f(:\n")
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "stanchion", "demo", "--keep", "--workers", "2", "--library", str(library)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "13 files and 2 packages" in done.stdout
    assert "parse-SyntaxError" in done.stdout
    (folder,) = tmp_path.glob("stanchion-demo-*")
    totals = json.loads((folder / "report.json").read_text())["totals"]
    assert (totals["files"], totals["failed"], totals["functions"]) == (12, 1, sum(n * 3 for n in range(12)))
    with Client(f"sqlite:///{folder}/demo.db") as client:
        assert client.check() == []
        assert client.queues["measure"].stats().run.count == 5
        assert client.workers.counts() == ()
