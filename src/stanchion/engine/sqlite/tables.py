"""The tables of the queue. Everything about a job that can be derived is derived, so that no index can disagree with it.

A job's collections are its ``state`` and ``queue``: the waiting line, the locks, the schedule are partial indexes of ``jobs``.
Child tables (tags, dependencies, places) point at ``jobs.id``, which never changes; ``seq`` is the order of puts.
``payloads`` is apart, so that a heartbeat does not rewrite a megabyte of data.
"""

from __future__ import annotations

QUEUE_TABLES = """
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    jid TEXT NOT NULL UNIQUE,
    klass TEXT NOT NULL,
    queue TEXT NOT NULL,                        -- '' once complete
    state TEXT NOT NULL,
    priority REAL NOT NULL,
    ready_at REAL NOT NULL,                     -- since when it can be popped; its age in the line
    seq INTEGER NOT NULL,                       -- the order of puts: decides between equals
    due REAL NOT NULL DEFAULT 0,                -- scheduled for, or kept for after the dependencies
    worker TEXT NOT NULL DEFAULT '',
    expires REAL NOT NULL DEFAULT 0,
    grace INTEGER NOT NULL DEFAULT 0,           -- 1 once its worker was told that the lock lapsed
    popped_at REAL NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 0,
    retries INTEGER NOT NULL,
    remaining INTEGER NOT NULL,
    tags TEXT NOT NULL DEFAULT '[]',
    throttles TEXT NOT NULL DEFAULT '[]',
    on_dependency_failure TEXT NOT NULL DEFAULT 'wait',
    spawned_from TEXT,
    failure TEXT,                               -- JSON of records.Failure, the last one
    failure_group TEXT,                         -- only while failed
    failed_at REAL,                             -- only while failed
    completed_at REAL,                          -- only while complete
    history TEXT NOT NULL DEFAULT '',           -- JSON [what, when, {more}], joined by commas, without the brackets
    history_count INTEGER NOT NULL DEFAULT 0,
    checksum INTEGER NOT NULL                   -- crc32 of klass and data: a changed byte is noticed at pop
) STRICT;
CREATE INDEX jobs_line ON jobs (queue, priority DESC, ready_at, seq) WHERE state = 'waiting';
CREATE INDEX jobs_locks ON jobs (queue, expires, seq) WHERE state IN ('running', 'stalled');
CREATE INDEX jobs_schedule ON jobs (queue, due, seq) WHERE state = 'scheduled';
CREATE INDEX jobs_held ON jobs (queue, state, ready_at, seq) WHERE state IN ('depends', 'throttled');
CREATE INDEX jobs_throttled ON jobs (queue, throttles, priority DESC, ready_at, seq) WHERE state = 'throttled';
CREATE INDEX jobs_failed ON jobs (failure_group, failed_at, seq) WHERE state = 'failed';
CREATE INDEX jobs_complete ON jobs (completed_at, seq) WHERE state = 'complete';

CREATE TABLE tallies (name TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO tallies VALUES ('complete', 0);       -- so that each completion need not count them all
CREATE TRIGGER jobs_completed AFTER UPDATE OF state ON jobs WHEN NEW.state = 'complete' AND OLD.state <> 'complete'
BEGIN UPDATE tallies SET count = count + 1 WHERE name = 'complete'; END;
CREATE TRIGGER jobs_revived AFTER UPDATE OF state ON jobs WHEN OLD.state = 'complete' AND NEW.state <> 'complete'
BEGIN UPDATE tallies SET count = count - 1 WHERE name = 'complete'; END;
CREATE TRIGGER jobs_forgotten AFTER DELETE ON jobs WHEN OLD.state = 'complete'
BEGIN UPDATE tallies SET count = count - 1 WHERE name = 'complete'; END;

CREATE TABLE payloads (job INTEGER PRIMARY KEY, data TEXT NOT NULL, result TEXT) STRICT;

CREATE TABLE tags (
    tag TEXT NOT NULL,
    job INTEGER NOT NULL,
    number INTEGER NOT NULL,                    -- the order of tagging
    PRIMARY KEY (tag, job)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_order ON tags (tag, number);
CREATE INDEX tags_of_job ON tags (job);

CREATE TABLE dependencies (                     -- the unfinished ones
    job INTEGER NOT NULL,
    on_job INTEGER NOT NULL,
    PRIMARY KEY (job, on_job)
) STRICT, WITHOUT ROWID;
CREATE INDEX dependencies_dependents ON dependencies (on_job, job);

CREATE TABLE releases (job INTEGER PRIMARY KEY) STRICT;   -- complete or failed, with dependents still to be told

CREATE TABLE throttles (id TEXT PRIMARY KEY, maximum INTEGER NOT NULL, expires REAL) STRICT, WITHOUT ROWID;
CREATE INDEX throttles_expiry ON throttles (expires) WHERE expires IS NOT NULL;

CREATE TABLE throttle_jobs (                    -- of jobs that are not complete
    throttle TEXT NOT NULL,
    job INTEGER NOT NULL,
    held_since REAL,                            -- it holds a place: it runs
    line INTEGER NOT NULL,                      -- 1 while the job is throttled, 2 while it is waiting; then where in the line:
    queue TEXT NOT NULL,
    priority REAL NOT NULL,
    ready_at REAL NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (throttle, job)
) STRICT, WITHOUT ROWID;
CREATE INDEX throttle_jobs_of_job ON throttle_jobs (job);
CREATE INDEX throttle_jobs_held ON throttle_jobs (throttle, held_since) WHERE held_since IS NOT NULL;
CREATE INDEX throttle_jobs_line ON throttle_jobs (throttle, queue, priority DESC, ready_at, seq) WHERE line > 0;
CREATE INDEX throttle_jobs_pending ON throttle_jobs (throttle, queue) WHERE line = 1;
CREATE TRIGGER jobs_lined_up AFTER UPDATE OF state, queue, priority, ready_at, seq ON jobs
WHEN NEW.throttles <> '[]' AND (OLD.state IN ('throttled', 'waiting') OR NEW.state IN ('throttled', 'waiting'))
BEGIN UPDATE throttle_jobs SET line = CASE NEW.state WHEN 'throttled' THEN 1 WHEN 'waiting' THEN 2 ELSE 0 END,
    queue = NEW.queue, priority = NEW.priority, ready_at = NEW.ready_at, seq = NEW.seq WHERE job = NEW.id; END;

CREATE TABLE queues (
    name TEXT PRIMARY KEY,
    number INTEGER NOT NULL,                    -- the order in which they were first seen
    known INTEGER NOT NULL DEFAULT 1,
    paused INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE workers (name TEXT PRIMARY KEY, seen REAL NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE tracked (jid TEXT PRIMARY KEY, since REAL NOT NULL, number INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE recurring (
    jid TEXT PRIMARY KEY,
    klass TEXT NOT NULL,
    data TEXT NOT NULL,
    queue TEXT NOT NULL,
    interval REAL NOT NULL,
    offset REAL NOT NULL,                       -- as given: the same again keeps the schedule
    next_due REAL NOT NULL,
    priority REAL NOT NULL,
    tags TEXT NOT NULL,
    retries INTEGER NOT NULL,
    backlog INTEGER NOT NULL,
    throttles TEXT NOT NULL,
    count INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX recurring_schedule ON recurring (queue, next_due);

CREATE TABLE stats (
    queue TEXT NOT NULL,
    day INTEGER NOT NULL,                       -- the UTC day's midnight, seconds
    wait_count INTEGER NOT NULL DEFAULT 0, wait_mean REAL NOT NULL DEFAULT 0, wait_m2 REAL NOT NULL DEFAULT 0,
    run_count INTEGER NOT NULL DEFAULT 0, run_mean REAL NOT NULL DEFAULT 0, run_m2 REAL NOT NULL DEFAULT 0,
    retries INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (queue, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE histograms (
    queue TEXT NOT NULL,
    day INTEGER NOT NULL,
    kind TEXT NOT NULL,                         -- 'wait' or 'run'
    bucket INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (queue, day, kind, bucket)
) STRICT, WITHOUT ROWID;
CREATE INDEX stats_days ON stats (day);
CREATE INDEX histograms_days ON histograms (day);

CREATE TABLE config (option TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;   -- value: JSON

CREATE TABLE tokens (                           -- requests that were answered, for those that did not hear the answer
    token TEXT PRIMARY KEY,
    request TEXT NOT NULL,                      -- a digest of the command
    reply TEXT NOT NULL,                        -- JSON
    at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_age ON tokens (at);
"""
