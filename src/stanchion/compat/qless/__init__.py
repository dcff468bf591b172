"""For code written for qless-py: ``from stanchion.compat import qless`` in place of ``import qless``.

Classes that jobs may run are registered, by ``qless.register``: no name is imported because a job has it. The guide
``docs/guides/qless-python.md`` tells what else is to be known.
"""

from __future__ import annotations

from stanchion.compat.qless.app import App
from stanchion.compat.qless.client import Client
from stanchion.compat.qless.config import Config
from stanchion.compat.qless.decorators import retry
from stanchion.compat.qless.exceptions import LostLockException, QlessException, UnregisteredKlass
from stanchion.compat.qless.insight import Jobs, Queues, Workers
from stanchion.compat.qless.job import Job, RecurringJob, logger
from stanchion.compat.qless.listener import Events
from stanchion.compat.qless.queue import Queue
from stanchion.compat.qless.registry import register

__all__ = [
    "App",
    "Client",
    "Config",
    "Events",
    "Job",
    "Jobs",
    "LostLockException",
    "QlessException",
    "Queue",
    "Queues",
    "RecurringJob",
    "UnregisteredKlass",
    "Workers",
    "logger",
    "register",
    "retry",
]
