"""The contestants, by name."""

from __future__ import annotations

from importlib import import_module

from benchmarks.contestants.contract import Contestant

_CLASSES = {
    "stanchion": "stanchion:Stanchion",
    "huey": "huey:HueyQueue",
    "huey-nosync": "huey:HueyWithoutSync",
    "litequeue": "litequeue:LiteQueueQueue",
    "persist-ack": "persistqueue:AckQueue",
    "persist-fifo": "persistqueue:FIFOQueue",
}

NAMES = tuple(_CLASSES)


def load(name: str) -> type[Contestant]:
    """The contestant of a name. ModuleNotFoundError if its package is not installed."""
    module, _, attribute = _CLASSES[name].partition(":")
    found: type[Contestant] = getattr(import_module(f"{__name__}.{module}"), attribute)
    return found
