"""The vocabulary: everything that the queue can do. A verb that is not here does not exist.

``VOCABULARY`` maps each command's name to its class; clients, CLI, engines, the reference and the tests are driven by it.
"""

from __future__ import annotations

from typing import Any

from stanchion.commands.base import Command, kinds_of, reply_type
from stanchion.commands.changing import (
    Depend,
    Get,
    Log,
    MultiGet,
    SetPriority,
    Track,
    Tracked,
    Undepend,
    Untrack,
)
from stanchion.commands.configuration import AllConfig, GetConfig, SetConfig, UnsetConfig
from stanchion.commands.failures import Failed, FailureGroups
from stanchion.commands.putting import Cancel, Put, PutMany, Requeue, Timeout, Unfail
from stanchion.commands.queues import (
    AllCounts,
    Counts,
    ForgetQueues,
    Length,
    ListJobs,
    Pause,
    Stats,
    Unpause,
)
from stanchion.commands.recurring import (
    GetRecurring,
    Recur,
    TagRecurring,
    Unrecur,
    UntagRecurring,
    UpdateRecurring,
)
from stanchion.commands.running import Complete, CompleteMany, Fail, Heartbeat, Peek, Pop, Retry
from stanchion.commands.tags import AddTags, RemoveTags, Tagged, TopTags
from stanchion.commands.throttles import (
    AllThrottles,
    DeleteThrottle,
    GetThrottle,
    ReleaseThrottle,
    SetThrottle,
    ThrottleLocks,
    ThrottlePending,
)
from stanchion.commands.workers import AllWorkers, Deregister, JobsOfWorker

_ALL: tuple[type[Command[Any]], ...] = (
    *(Put, PutMany, Requeue, Unfail, Cancel, Timeout),
    *(Pop, Peek, Heartbeat, Complete, CompleteMany, Fail, Retry),
    *(Get, MultiGet, SetPriority, Log, Depend, Undepend, Track, Untrack, Tracked),
    *(AddTags, RemoveTags, Tagged, TopTags),
    *(Recur, Unrecur, GetRecurring, UpdateRecurring, TagRecurring, UntagRecurring),
    *(AllCounts, Counts, Length, ListJobs, Pause, Unpause, ForgetQueues, Stats),
    *(FailureGroups, Failed),
    *(AllWorkers, JobsOfWorker, Deregister),
    *(
        SetThrottle,
        GetThrottle,
        AllThrottles,
        DeleteThrottle,
        ThrottleLocks,
        ThrottlePending,
        ReleaseThrottle,
    ),
    *(GetConfig, AllConfig, SetConfig, UnsetConfig),
)

VOCABULARY: dict[str, type[Command[Any]]] = {command.name: command for command in _ALL}

__all__ = [
    "VOCABULARY",
    "AddTags",
    "AllConfig",
    "AllCounts",
    "AllThrottles",
    "AllWorkers",
    "Cancel",
    "Command",
    "Complete",
    "CompleteMany",
    "Counts",
    "DeleteThrottle",
    "Depend",
    "Deregister",
    "Fail",
    "Failed",
    "FailureGroups",
    "ForgetQueues",
    "Get",
    "GetConfig",
    "GetRecurring",
    "GetThrottle",
    "Heartbeat",
    "JobsOfWorker",
    "Length",
    "ListJobs",
    "Log",
    "MultiGet",
    "Pause",
    "Peek",
    "Pop",
    "Put",
    "PutMany",
    "Recur",
    "ReleaseThrottle",
    "RemoveTags",
    "Requeue",
    "Retry",
    "SetConfig",
    "SetPriority",
    "SetThrottle",
    "Stats",
    "TagRecurring",
    "Tagged",
    "ThrottleLocks",
    "ThrottlePending",
    "Timeout",
    "TopTags",
    "Track",
    "Tracked",
    "Undepend",
    "Unfail",
    "Unpause",
    "Unrecur",
    "UnsetConfig",
    "UntagRecurring",
    "Untrack",
    "UpdateRecurring",
    "kinds_of",
    "reply_type",
]
