"""Circles of dependencies, in which every job would wait for itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def find_circle(start: str, depends_of: Callable[[str], Iterable[str]]) -> list[str] | None:
    """The path from ``start`` along its dependencies back to ``start``; None if there is none.

    Depth first with a stack of its own, so that a chain of any length fits.
    """
    came_from: dict[str, str] = {}
    stack = [start]
    while stack:
        job = stack.pop()
        for dependency in depends_of(job):
            if dependency == start:
                return _path(start, job, came_from)
            if dependency not in came_from:
                came_from[dependency] = job
                stack.append(dependency)
    return None


def _path(start: str, last: str, came_from: dict[str, str]) -> list[str]:
    path = [start]
    while last != start:
        path.append(last)
        last = came_from[last]
    return [start, *reversed(path[1:]), start]
