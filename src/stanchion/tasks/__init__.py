"""Functions as tasks: a typed call becomes a job, and a job becomes that call again."""

from __future__ import annotations

from stanchion.tasks.app import App
from stanchion.tasks.handle import Handle
from stanchion.tasks.task import Task

__all__ = ["App", "Handle", "Task"]
