"""A handler for each command: a function of a transaction and the command that returns its reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanchion import commands as c
from stanchion.engine.sqlite.handlers import (
    canceling,
    changing,
    configuration,
    failures,
    putting,
    queues,
    recurring,
    settling,
    statistics,
    tags,
    taking,
    throttles,
    tracking,
    workers,
)
from stanchion.engine.sqlite.transaction import Transaction

Handler = Callable[[Transaction, Any], Any]

HANDLERS: dict[type[c.Command[Any]], Handler] = {
    c.Put: putting.put,
    c.PutMany: putting.put_many,
    c.Requeue: putting.requeue,
    c.Unfail: putting.unfail,
    c.Cancel: canceling.cancel,
    c.Timeout: settling.timeout,
    c.Pop: taking.pop,
    c.Peek: taking.peek,
    c.Heartbeat: settling.heartbeat,
    c.Complete: settling.complete,
    c.CompleteMany: settling.complete_many,
    c.Fail: settling.fail,
    c.Retry: settling.retry,
    c.Get: changing.get,
    c.MultiGet: changing.multiget,
    c.SetPriority: changing.set_priority,
    c.Log: changing.log,
    c.Depend: changing.depend,
    c.Undepend: changing.undepend,
    c.Track: tracking.track,
    c.Untrack: tracking.untrack,
    c.Tracked: tracking.tracked,
    c.AddTags: tags.add_tags,
    c.RemoveTags: tags.remove_tags,
    c.Tagged: tags.tagged,
    c.TopTags: tags.top_tags,
    c.Recur: recurring.recur,
    c.Unrecur: recurring.unrecur,
    c.GetRecurring: recurring.get_recurring,
    c.UpdateRecurring: recurring.update_recurring,
    c.TagRecurring: recurring.tag_recurring,
    c.UntagRecurring: recurring.untag_recurring,
    c.AllCounts: queues.all_counts,
    c.Counts: queues.counts,
    c.Length: queues.length,
    c.ListJobs: queues.list_jobs,
    c.Pause: queues.pause,
    c.Unpause: queues.unpause,
    c.ForgetQueues: queues.forget_queues,
    c.Stats: statistics.stats,
    c.FailureGroups: failures.failure_groups,
    c.Failed: failures.failed,
    c.AllWorkers: workers.all_workers,
    c.JobsOfWorker: workers.jobs_of_worker,
    c.Deregister: workers.deregister,
    c.SetThrottle: throttles.set_throttle,
    c.GetThrottle: throttles.get_throttle,
    c.AllThrottles: throttles.all_throttles,
    c.DeleteThrottle: throttles.delete_throttle,
    c.ThrottleLocks: throttles.throttle_locks,
    c.ThrottlePending: throttles.throttle_pending,
    c.ReleaseThrottle: throttles.release_throttle,
    c.GetConfig: configuration.get_config,
    c.AllConfig: configuration.all_config,
    c.SetConfig: configuration.set_config,
    c.UnsetConfig: configuration.unset_config,
}
"""Every command of the vocabulary, and what runs it."""
