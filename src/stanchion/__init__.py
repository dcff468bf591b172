"""Stanchion: the job queue that never guesses whether your worker is dead."""

from __future__ import annotations

from importlib.metadata import version as _version

from stanchion.client.aio.client import AsyncClient
from stanchion.client.aio.jobs import AsyncJobHandle
from stanchion.client.data import RawJSON
from stanchion.client.sync.client import Client
from stanchion.client.sync.jobs import JobHandle
from stanchion.errors import OutcomeUnknown, Refused, Retryable, StanchionError
from stanchion.records import Job
from stanchion.rules.backoff import Constant, Exponential, Linear
from stanchion.tasks import App, Handle, Task
from stanchion.tasks.verdicts import Cancel, Fail, Retry, Snooze
from stanchion.worker import ActiveJob, Worker, current_job

__version__ = _version("stanchion")

__all__ = [
    "ActiveJob",
    "App",
    "AsyncClient",
    "AsyncJobHandle",
    "Cancel",
    "Client",
    "Constant",
    "Exponential",
    "Fail",
    "Handle",
    "Job",
    "JobHandle",
    "Linear",
    "OutcomeUnknown",
    "RawJSON",
    "Refused",
    "Retry",
    "Retryable",
    "Snooze",
    "StanchionError",
    "Task",
    "Worker",
    "__version__",
    "current_job",
]
