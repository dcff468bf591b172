"""What can be said about a job when it is put, for calls that pass it on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from stanchion.records import DependencyPolicy


class PutOptions(TypedDict, total=False):
    """How a job is put.

    ``jid``: a name of your own, else a fresh one. ``delay``: seconds before it may be popped. ``priority`` (higher goes first),
    ``tags`` and ``retries`` left out are those that an existing job of that jid has, else 0, none and 5. ``depends``: jids of
    jobs to wait for; ``on_dependency_failure``: what to do when one of them fails or is canceled. ``throttles``: limits that it
    counts for. ``if_absent``: leave an existing job of that jid exactly as it is.
    """

    jid: str | None
    delay: float
    priority: float | None
    tags: Sequence[str] | None
    retries: int | None
    depends: Sequence[str]
    throttles: Sequence[str]
    on_dependency_failure: DependencyPolicy
    if_absent: bool
