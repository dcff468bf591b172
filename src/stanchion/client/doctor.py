"""The doctor: what a store is like, what it holds in all, what is wrong with either, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

from stanchion.client.open import open_engine
from stanchion.client.urls import without_password
from stanchion.commands import AllCounts
from stanchion.engine.contract import Advice, Engine, Finding
from stanchion.errors import BadURL, StanchionError
from stanchion.records import Record

_STATES = ("waiting", "running", "stalled", "scheduled", "depends", "throttled", "recurring")
_SHOWN = 3  # findings that are told; fsck tells all

_REMEDIES = {
    "newer-schema": "upgrade this program",
    "old-sqlite": "use a Python with a newer SQLite",
    "network-file-system": "move the file to a local disk",
    "not-a-queue-file": "mend the URL",
    "read-only-store": "mend the permissions of the file and its folder",
    "store-damaged": "restore a copy; sqlite3 FILE .recover may save the rest",
    "store-busy": "look at the process that holds it",
    "store-unavailable": "see that the server runs, and that host, port and password are right",
    "store-forbids": "mend the user, the password, or what the user may do",
    "evicting-server": "set maxmemory-policy noeviction",
    "old-server": "upgrade the server",
}


class Report(Record, frozen=True):
    """What the doctor says: facts, how many jobs there are in all queues, and advice. Healthy if nothing of it is wrong."""

    url: str
    healthy: bool
    facts: dict[str, Any]
    totals: dict[str, int]
    advice: tuple[Advice, ...]


def examine(url: str) -> Report:
    """Look at the store at a URL and at all that it holds. A store that cannot be used is reported, not raised; BadURL is."""
    facts: dict[str, Any] = {}
    totals: dict[str, int] = {}
    advice: dict[str, Advice] = {}
    with ExitStack() as stack:
        with _noted(advice):
            engine = stack.enter_context(closing(open_engine(url)))
            diagnosis = engine.diagnose()
            facts |= diagnosis.facts
            advice |= {one.code: one for one in diagnosis.advice}
        if facts:
            with _noted(advice):
                totals |= _totals(engine)
                advice |= {one.code: one for one in _of_findings(engine.check())}
    return Report(
        without_password(url), not any(one.wrong for one in advice.values()), facts, totals, tuple(advice.values())
    )


@contextmanager
def _noted(advice: dict[str, Advice]) -> Iterator[None]:
    """What is raised is noted, unless it is a slip of the pen, or known already."""
    try:
        yield
    except BadURL:
        raise
    except StanchionError as error:
        advice.setdefault(error.code, Advice(error.code, str(error), _REMEDIES.get(error.code, "")))


def _totals(engine: Engine) -> dict[str, int]:
    counts = engine.run(AllCounts())
    totals = {state: sum(getattr(one, state) for one in counts) for state in _STATES}
    return {"queues": len(counts), "paused": sum(one.paused for one in counts), **totals}


def _of_findings(found: list[Finding]) -> Iterator[Advice]:
    if found:
        shown = "; ".join(f"{one.subject} {one.message}" for one in found[:_SHOWN])
        message = f"{len(found)} findings in what it holds: {shown}{'; …' if len(found) > _SHOWN else ''}"
        yield Advice("unsound", message, "stanchion fsck tells all, stanchion fsck --repair mends what can be mended")
