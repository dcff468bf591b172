"""The store on real files, processes and signals: durability, turns, forks, full disks, and files that are not ours."""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stanchion import AsyncClient, Client
from stanchion import commands as c
from stanchion.client.sync.queues import Queue
from stanchion.engine.sqlite import clock, files
from stanchion.engine.sqlite.files import NETWORK_FILE_SYSTEMS
from stanchion.errors import (
    BadURL,
    DiskFull,
    FileReplaced,
    NetworkFileSystem,
    NewerSchema,
    NotAQueueFile,
    ReadOnlyStore,
    StoreBusy,
    StoreClosed,
)

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
as_nobody = pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
def client(path: Path) -> Iterator[Client]:
    with Client(f"sqlite:///{path}") as client:
        yield client


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python process with these arguments, whose output can be read."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    output, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    return output


def test_it_is_durable_unless_asked_otherwise(path: Path) -> None:
    for durability, level in (("full", 2), ("fast", 1)):
        with Client(f"sqlite:///{path}?durability={durability}") as client:
            store = client._engine.shared.get()  # type: ignore[attr-defined]
            assert store.run(lambda tx: tx.value("PRAGMA synchronous")) == level
            assert store.run(lambda tx: tx.value("PRAGMA journal_mode")) == "wal"
            assert store.run(lambda tx: tx.value("PRAGMA wal_autocheckpoint")) == 0


def test_one_file_has_one_durability_in_a_process(client: Client, path: Path) -> None:
    with pytest.raises(BadURL, match="durability=full"):
        Client(f"sqlite:///{path}?durability=fast")
    with Client(f"sqlite:///{path}") as other:
        other.queues["q"].put("k")
        assert client.queues["q"].length() == 1


def test_threads_share_transactions(client: Client) -> None:
    store = client._engine.shared.get()  # type: ignore[attr-defined]
    sizes: list[int] = []
    transaction = store._transaction

    def counting(batch: list[object]) -> object:
        sizes.append(len(batch))
        return transaction(batch)

    store._transaction = counting
    barrier = threading.Barrier(8)

    def put(name: int) -> None:
        barrier.wait()
        for n in range(50):
            client.queues["q"].put("k", jid=f"{name}-{n}")

    threads = [threading.Thread(target=put, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(sizes) == 400
    assert len(sizes) < 250
    assert client.queues["q"].length() == 400


async def test_tasks_share_transactions(path: Path) -> None:
    async with AsyncClient(f"sqlite:///{path}") as client:
        await asyncio.gather(*(client.queues["q"].put("k") for _ in range(200)))
        assert await client.queues["q"].length() == 200


def test_an_error_in_one_command_leaves_the_others_of_its_transaction(client: Client) -> None:
    outcomes = client.run_many([c.Put("q", "a", "k"), c.Requeue("q", "nobody"), c.Put("q", "b", "k")])
    assert [outcome.error is None for outcome in outcomes] == [True, False, True]
    assert client.queues["q"].length() == 2


WRITER = """
import sys, time
from stanchion import Client
client = Client(sys.argv[1])
q, longest, end = client.queues["q"], 0.0, time.monotonic() + float(sys.argv[3])
n = 0
while time.monotonic() < end:
    began = time.monotonic()
    q.put("k", jid=f"{sys.argv[2]}-{n}")
    longest = max(longest, time.monotonic() - began)
    n += 1
print(n, longest)
"""


@pytest.mark.slow
def test_no_process_is_starved(path: Path) -> None:
    url = f"sqlite:///{path}"
    with Client(url) as client:
        client.queues["q"].put("k")
        processes = [python(WRITER, url, name, 3) for name in range(8)]
        counts = [int(finish(process).split()[0]) for process in processes]
        assert min(counts) * 10 > max(counts)
        assert client.queues["q"].length() == sum(counts) + 1


STUCK = """
import os, signal, sys
from stanchion import Client
client = Client(sys.argv[1])
def stop(tx):
    tx.run("UPDATE engine SET number = number")
    print("inside", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
client._engine.shared.get().run(stop)
"""


@pytest.mark.slow
def test_a_stuck_writer_is_named_and_its_death_frees_the_others(client: Client) -> None:
    stuck = python(STUCK, client.url)
    assert stuck.stdout is not None
    assert stuck.stdout.readline() == "inside\n"
    with pytest.raises(StoreBusy, match=f"process {stuck.pid} is writing"):
        client.run(c.Put("q", "a", "k"), timeout=0.1)
    assert client.jobs["a"].get() is None
    stuck.kill()
    stuck.communicate()
    client.run(c.Put("q", "a", "k"), timeout=5)
    assert client.jobs["a"].get() is not None


def test_a_fork_opens_its_own_and_leaves_the_parents_alone(client: Client) -> None:
    client.queues["q"].put("k", jid="parent-1")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            client.queues["q"].put("k", jid="child")
            code = 0 if client.queues["q"].length() == 2 else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    client.queues["q"].put("k", jid="parent-2")
    assert client.queues["q"].jobs("waiting") == ("parent-1", "child", "parent-2")
    assert client.check() == []


def test_memory_is_not_shared_with_a_fork() -> None:
    with Client("sqlite://") as client:
        client.queues["q"].put("k")
        child = os.fork()
        if child == 0:
            try:
                client.queues["q"].put("k")
            except StoreClosed:
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert client.queues["q"].length() == 1


@pytest.mark.parametrize("change", ["replaced", "removed"])
def test_a_file_that_is_no_longer_the_one_opened_is_noticed(client: Client, path: Path, change: str) -> None:
    client.queues["q"].put("k")
    path.rename(path.with_suffix(".old"))
    if change == "replaced":
        path.write_bytes(b"")
    with pytest.raises(FileReplaced):
        client.queues["q"].put("k")


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("this is no database, but long enough to be taken for a header" * 20)
    with pytest.raises(NotAQueueFile):
        Client(f"sqlite:///{tmp_path}/text.db")
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE theirs (x)")
        other.commit()
    with pytest.raises(NotAQueueFile, match="another program"):
        Client(f"sqlite:///{tmp_path}/other.db")
    with pytest.raises(NotAQueueFile, match="regular"):
        Client(f"sqlite:///{tmp_path}")
    with pytest.raises(ReadOnlyStore, match="no folder"):
        Client(f"sqlite:///{tmp_path}/nowhere/jobs.db")


def test_a_newer_schema_is_refused(path: Path) -> None:
    Client(f"sqlite:///{path}").close()
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA user_version = 99")
    with pytest.raises(NewerSchema, match="99"):
        Client(f"sqlite:///{path}")


@pytest.mark.slow
def test_many_openers_at_once_make_one_database(path: Path) -> None:
    code = "import sys; from stanchion import Client; Client(sys.argv[1]).queues['q'].put('k')"
    for process in [python(code, f"sqlite:///{path}") for _ in range(6)]:
        finish(process)
    with Client(f"sqlite:///{path}") as client:
        assert client.queues["q"].length() == 6


def test_reading_only(client: Client, path: Path) -> None:
    client.queues["q"].put("k")
    with Client(f"sqlite:///{path}?mode=ro") as reader:
        assert reader.queues["q"].length() == 1
        with pytest.raises(ReadOnlyStore, match="mode=ro"):
            reader.queues["q"].put("k")
    with pytest.raises(ReadOnlyStore, match="does not exist"):
        Client(f"sqlite:///{path}.none?mode=ro")


@as_nobody
def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ReadOnlyStore, match="cannot be written"):
        Client(f"sqlite:///{tmp_path}/jobs.db")
    tmp_path.chmod(0o700)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of four megabytes."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip("this system lets nobody mount")
    yield folder
    gc.collect()
    subprocess.run(["umount", "-l", folder], check=True)


def fill(queue: Queue) -> int:
    """Put until the disk is full; how many were put."""
    put = 0
    while True:
        try:
            queue.put("k", "x" * 50_000)
        except DiskFull:
            return put
        put += 1


@as_root
def test_a_full_disk_refuses_puts_and_lets_running_work_finish(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stanchion.engine.sqlite.store.BALLAST_RETRY", 0.0)
    with Client(f"sqlite:///{small_disk}/jobs.db") as client:
        q = client.queues["q"]
        q.put("k", jid="running")
        job = q.pop("w")
        assert job is not None
        filler = small_disk / "filler"
        filler.write_bytes(b"x" * 1_500_000)
        put = fill(q)
        assert q.counts().waiting == put
        job.heartbeat()
        assert job.complete() == "complete"
        with pytest.raises(DiskFull):
            q.put("k")
        filler.unlink()
        client.jobs.cancel("running")
        q.put("k")
        assert client.check() == []


def test_network_file_systems_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = files._file_system(str(path.parent))
    monkeypatch.setitem(NETWORK_FILE_SYSTEMS, kind, "NFS")
    with pytest.raises(NetworkFileSystem, match="NFS"):
        Client(f"sqlite:///{path}")
    Client(f"sqlite:///{path}?network=allow").close()


def _readings(monkeypatch: pytest.MonkeyPatch) -> Callable[[float, float], None]:
    """Set what the machine's clocks say: the monotonic one and the wall's."""

    def set_to(monotonic: float, wall: float) -> None:
        monkeypatch.setattr(clock, "read_clocks", lambda: clock.Reading("boot", monotonic, wall))

    return set_to


@pytest.mark.parametrize("step", [3600.0, 86400.0, -7200.0])
def test_a_step_of_the_wall_clock_expires_no_lease(monkeypatch: pytest.MonkeyPatch, step: float) -> None:
    clocks = _readings(monkeypatch)
    clocks(0, 10**9)
    with Client("sqlite://") as client:
        client.queues["q"].put("k", jid="a")
        assert client.queues["q"].pop("w") is not None
        clocks(30, 10**9 + 30 + step)
        assert client.queues["q"].pop("v") is None
        assert client.queues["q"].counts().running == 1
        clocks(59, 10**9 + 59 + step)
        assert client.queues["q"].counts().running == 1
        clocks(61, 10**9 + 61 + step)
        assert client.queues["q"].counts().stalled == 1


WAITER = """
import sys, time
from stanchion import Client
client = Client(sys.argv[1])
for _ in range(int(sys.argv[2])):
    ticket = client.ticket()
    while (job := client.queues["q"].pop("w")) is None:
        print("waiting", flush=True)
        client.wait(["q"], 30, since=ticket)
        ticket = client.ticket()
    print(time.time() - job.data, flush=True)
    job.complete()
"""


@pytest.mark.slow
def test_a_put_wakes_a_process_that_sleeps(client: Client) -> None:
    waiter = python(WAITER, client.url, 20)
    assert waiter.stdout is not None
    latencies = []
    while len(latencies) < 20:
        line = waiter.stdout.readline().strip()
        if line == "waiting":
            client.queues["q"].put("k", time.time())
        else:
            latencies.append(float(line))
    finish(waiter)
    assert sorted(latencies)[10] < 0.5


def test_waiting_ends_when_a_time_comes(client: Client) -> None:
    client.queues["q"].put("k", delay=0.05)
    began = time.monotonic()
    assert client.wait(["q"], 10)
    assert time.monotonic() - began >= 0.04
    assert client.queues["q"].pop("w") is not None
    client.queues["q"].recur("k", interval=3600, offset=0.05)
    assert client.wait(["q"], 10)


def test_waiting_for_another_queue_is_not_ended(client: Client) -> None:
    client.queues["other"].put("k")
    assert not client.wait(["q"], 0.05)


@pytest.mark.slow
def test_the_log_is_moved_into_the_database(client: Client, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stanchion.engine.sqlite.store.CHECKPOINT_COMMITS", 20)
    reader = sqlite3.connect(path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM jobs").fetchone()
    for n in range(100):
        client.queues["q"].put("k", "x" * 5000, jid=str(n))
    pinned = os.stat(f"{path}-wal").st_size
    reader.close()
    for n in range(400):
        client.queues["q"].put("k", "x" * 5000, jid=f"more-{n}")
    assert os.stat(f"{path}-wal").st_size < pinned * 3
    assert os.stat(path).st_size > 400 * 5000


@pytest.mark.slow
def test_nothing_but_sqlite_opens_the_files(tmp_path: Path) -> None:
    code = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from stanchion import Client
client = Client(sys.argv[1])
with client.events.subscribe("log"):
    client.queues["q"].put("k")
    client.queues["q"].pop("w").complete()
client.check()
client.close()
print(*[path for path in opened if path.endswith(("jobs.db", "-wal", "-shm"))])
"""
    assert finish(python(code, f"sqlite:///{tmp_path}/jobs.db")) == "\n"


def test_closing_leaves_nothing_behind(path: Path) -> None:
    code = """
import os, sys, threading
from stanchion import Client
def left():
    return len(os.listdir("/proc/self/fd")), threading.active_count()
def use():
    with Client(sys.argv[1]) as client, client.events.subscribe("log"):
        client.queues["q"].put("k")
        client.wait(["q"], 0.01)
use()
before = left()
for _ in range(5):
    use()
print(left() == before)
"""
    assert finish(python(code, f"sqlite:///{path}")) == "True\n"


def test_a_stranger_that_holds_sqlites_lock_is_waited_for_and_told(client: Client, path: Path) -> None:
    store = client._engine.shared.get()  # type: ignore[attr-defined]
    store.run(lambda tx: None)
    store._connection.execute("PRAGMA busy_timeout = 50")
    with closing(sqlite3.connect(path, isolation_level=None)) as stranger:
        stranger.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="takes no turns"):
            client.queues["q"].put("k")
        stranger.execute("ROLLBACK")
    client.queues["q"].put("k")
