"""What qless-py 0.11.4 shows, as data: its modules, and the names in them, with their members and arguments.

``GONE`` holds what has no counterpart, and why: the guide says it too.
"""

from __future__ import annotations

MODULES: dict[str, tuple[str, ...]] = {
    "": (
        "Client",
        "Config",
        "Events",
        "Job",
        "Jobs",
        "QlessException",
        "Queue",
        "Queues",
        "RecurringJob",
        "Workers",
        "logger",
        "retry",
    ),
    "config": ("Config",),
    "exceptions": ("LostLockException", "QlessException"),
    "job": ("BaseJob", "Job", "RecurringJob", "logger"),
    "listener": ("Events", "Listener", "logger"),
    "queue": ("Jobs", "Queue"),
    "workers": ("Worker",),
    "workers.forking": ("ForkingWorker",),
    "workers.greenlet": ("GeventWorker",),
    "workers.serial": ("SerialWorker",),
}
"""The names of each module that are its own, or that others take from it."""

MEMBERS: dict[str, tuple[str, ...]] = {
    "Client": ("config", "events", "jobs", "queues", "tags", "track", "unfail", "untrack", "worker_name", "workers"),
    "client.jobs": ("client", "complete", "failed", "get", "tagged", "tracked", "__getitem__"),
    "client.queues": ("client", "counts", "__getitem__"),
    "client.workers": ("client", "counts", "__getitem__"),
    "client.config": (
        "all", "clear", "get", "items", "keys", "pop", "update", "values",
        "__contains__", "__delitem__", "__getitem__", "__iter__", "__len__", "__setitem__",
    ),
    "client.events": ("events", "listen", "namespace", "off", "on", "thread", "unlisten"),
    "Queue": (
        "class_string", "client", "counts", "heartbeat", "jobs", "name", "pause", "peek", "pop", "put", "recur", "stats",
        "unpause", "worker_name", "__len__",
    ),
    "queue.jobs": ("client", "depends", "name", "recurring", "running", "scheduled", "stalled"),
    "Job": (
        "cancel", "client", "complete", "data", "depend", "dependencies", "dependents", "expires_at", "fail", "failure",
        "heartbeat", "history", "jid", "klass", "klass_name", "move", "original_retries", "priority", "process", "queue",
        "queue_name", "retries_left", "retry", "sandbox", "state", "tag", "tags", "timeout", "track", "tracked", "ttl",
        "undepend", "untag", "untrack", "worker_name", "__getitem__", "__setitem__",
    ),
    "RecurringJob": (
        "cancel", "client", "count", "data", "interval", "jid", "klass", "klass_name", "move", "next", "priority", "queue",
        "queue_name", "retries", "tag", "tags", "untag",
    ),
    "Worker": ("client", "kwargs", "queues", "run", "shutdown", "stop"),
}  # fmt: skip
"""What each object has."""

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "Client": ("url", "hostname"),
    "Client.tags": ("offset", "count"),
    "Client.track": ("jid",),
    "Client.unfail": ("group", "queue", "count"),
    "Client.untrack": ("jid",),
    "Jobs.complete": ("offset", "count"),
    "Jobs.failed": ("group", "start", "limit"),
    "Jobs.tagged": ("tag", "offset", "count"),
    "Config.get": ("option", "default"),
    "Config.pop": ("option", "default"),
    "Config.update": ("other",),
    "Events.off": ("evt",),
    "Events.on": ("evt", "func"),
    "Queue.class_string": ("klass",),
    "Queue.peek": ("count",),
    "Queue.pop": ("count",),
    "Queue.put": ("klass", "data", "priority", "tags", "delay", "retries", "jid", "depends"),
    "Queue.recur": ("klass", "data", "interval", "offset", "priority", "tags", "retries", "jid"),
    "Queue.stats": ("date",),
    "Job.complete": ("nextq", "delay", "depends"),
    "Job.fail": ("group", "message"),
    "Job.move": ("queue", "delay", "depends"),
    "Job.retry": ("delay", "group", "message"),
    "RecurringJob.move": ("queue",),
}
"""The names of arguments, in their order."""

GONE: dict[str, str] = {
    "Client.__call__": "commands have methods; Client.run runs any of Stanchion's",
    "Client.redis": "queues need not be on a server",
    "formatter": "nothing is set up for the program's log",
    "handler": "nothing is set up for the program's log",
    "job.BaseJob.reload": "code is loaded once: start the worker anew",
    "profile.Profiler": "make bench, and the server's own slow log",
    "util.import_class": "a name from the store is never imported",
    "workers.Worker.clean": "a job's folder is a temporary one",
    "workers.Worker.divide": "nothing is divided",
    "workers.Worker.handler": "see the guide of the worker for its signals",
    "workers.Worker.jobs": "the worker's own loop",
    "workers.Worker.kill": "code whose lock is lost is broken into by the worker",
    "workers.Worker.listen": "the worker knows by itself when a lock is lost",
    "workers.Worker.listener": "the worker knows by itself when a lock is lost",
    "workers.Worker.resumable": "jobs are handed back when a worker stops",
    "workers.Worker.sandbox": "a job's folder is a temporary one",
    "workers.Worker.signals": "see the guide of the worker for its signals",
    "workers.Worker.title": "the title of the process stays",
    "workers.forking.ForkingWorker.spawn": "the worker starts its processes",
    "workers.greenlet.GeventWorker.process": "the worker's own",
}
"""What there is no counterpart of, by its path in qless-py, and what there is in its place."""
