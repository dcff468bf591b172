"""Each name of qless-py has its counterpart, or is told to be gone; and the list of names is that of qless-py."""

from __future__ import annotations

import importlib
import inspect
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stanchion.compat import qless
from stanchion.compat.qless import workers
from tests.compat.conftest import Face
from tests.compat.names import ARGUMENTS, GONE, MEMBERS, MODULES

GUIDE = Path(__file__).parent.parent.parent / "docs" / "guides" / "qless-python.md"
STAND_INS = ("getproctitle", "setproctitle")  # for a package that may be missing
BESIDE_IT = ("__module__", "__dict__", "__weakref__", "__doc__", "__init__", "__getattr__", "__setattr__", "__repr__")


@pytest.mark.parametrize("module", MODULES)
def test_modules_have_their_names(module: str) -> None:
    found = importlib.import_module(f"stanchion.compat.qless.{module}".rstrip("."))
    assert [name for name in MODULES[module] if not hasattr(found, name)] == []


def test_objects_have_their_members(ours: Face) -> None:
    client = ours.client
    queue = client.queues["q"]
    queue.put("k", {}, jid="one")
    ours.qless.register(Work, klass="k")
    queue.recur("k", {}, 60, offset=60, jid="tick")
    objects = {
        "Client": client,
        "client.jobs": client.jobs,
        "client.queues": client.queues,
        "client.workers": client.workers,
        "client.config": client.config,
        "client.events": client.events,
        "Queue": queue,
        "queue.jobs": queue.jobs,
        "Job": client.jobs["one"],
        "RecurringJob": client.jobs["tick"],
        "Worker": workers.Worker(["q"], client),
    }
    assert objects.keys() == MEMBERS.keys()
    missing = [f"{name}.{member}" for name, one in objects.items() for member in MEMBERS[name] if not hasattr(one, member)]
    assert missing == []
    client.events.unlisten()


@pytest.mark.parametrize("path", ARGUMENTS)
def test_methods_take_their_arguments(path: str) -> None:
    assert _positional(qless, path)[: len(ARGUMENTS[path])] == ARGUMENTS[path]


def test_the_guide_tells_what_is_gone() -> None:
    text = GUIDE.read_text()
    assert [path for path in GONE if f"{_last(path)}`" not in text] == []


@pytest.mark.skipif(find_spec("qless") is None, reason="qless-py is not installed")
class TestTheListIsThatOfQlessPy:
    """So that nobody need take its word for it."""

    def test_names_of_modules(self) -> None:
        for module, names in MODULES.items():
            if module == "workers.greenlet":  # needs gevent to be imported
                continue
            found = importlib.import_module(f"qless.{module}".rstrip("."))
            own = {name for name, value in vars(found).items() if _is_of_qless(name, value, found)}
            told = set(names) | {path.rpartition(".")[2] for path in GONE if path.rpartition(".")[0] == module}
            assert own - told == set(), module
            assert [name for name in names if not hasattr(found, name)] == []

    @pytest.mark.parametrize(
        ("path", "key"),
        [
            ("Client", "Client"),
            ("Jobs", "client.jobs"),
            ("Queues", "client.queues"),
            ("Workers", "client.workers"),
            ("Config", "client.config"),
            ("Events", "client.events"),
            ("Queue", "Queue"),
            ("queue.Jobs", "queue.jobs"),
            ("Job", "Job"),
            ("RecurringJob", "RecurringJob"),
            ("job.BaseJob", "Job"),
            ("workers.Worker", "Worker"),
            ("workers.serial.SerialWorker", "Worker"),
            ("workers.forking.ForkingWorker", "Worker"),
        ],
    )
    def test_members_of_classes(self, path: str, key: str) -> None:
        module, _, name = path.rpartition(".")
        kind = getattr(importlib.import_module(f"qless.{module}".rstrip(".")), name)
        own = {member for member in vars(kind) if _is_shown(member) and member not in BESIDE_IT}
        gone = {other.rpartition(".")[2] for other in GONE}
        assert own - set(MEMBERS[key]) - gone == set()

    @pytest.mark.parametrize("path", ARGUMENTS)
    def test_arguments(self, path: str) -> None:
        assert _positional(importlib.import_module("qless"), path) == ARGUMENTS[path]


class Work:
    """Code of a job."""

    @staticmethod
    def process(job: Any) -> None: ...


def _positional(module: ModuleType, path: str) -> tuple[str, ...]:
    found: Any = module
    for name in path.split("."):
        found = getattr(found, name)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD,)
    taken = inspect.signature(found).parameters.items()
    return tuple(name for name, one in taken if one.kind in kinds and name != "self")


def _is_shown(member: str) -> bool:
    return not member.startswith("_") or member.startswith("__")


def _is_of_qless(name: str, value: object, module: ModuleType) -> bool:
    own = getattr(value, "__module__", "") or ""
    return not name.startswith("_") and name not in STAND_INS and own == module.__name__


def _last(path: str) -> str:
    return path.rpartition(".")[2]
