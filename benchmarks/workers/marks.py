"""Marks: which job a worker started when. A record is written at once, so that the other side can wait for it."""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.contestants.contract import Data, Site

_RECORD = struct.Struct("=qq")


class Mark(NamedTuple):
    """A job, by the number in its data, and when it started: nanoseconds of the clock that all processes share."""

    number: int
    started: int


class Marker:
    """The task of every benchmark job: it does nothing but mark."""

    def __init__(self, site: Site) -> None:
        self._descriptor = os.open(site.marks, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def __call__(self, data: Data) -> None:
        os.write(self._descriptor, _RECORD.pack(data["n"], time.monotonic_ns()))


def count_marks(path: Path) -> int:
    """How many marks there are."""
    return path.stat().st_size // _RECORD.size if path.exists() else 0


def read_marks(path: Path) -> list[Mark]:
    """All marks, in the order in which they were written."""
    return [Mark(*record) for record in _RECORD.iter_unpack(path.read_bytes())]
