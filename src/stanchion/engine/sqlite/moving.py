"""Moving house: all that a database holds, as it is kept, and writing what another one holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec

from stanchion.engine.contract import MARK, Holdings, StateDump
from stanchion.engine.sqlite.dump import dump
from stanchion.engine.sqlite.handlers.configuration import forget_settings, settings
from stanchion.engine.sqlite.handlers.rows import checksum, encode_failure, texts
from stanchion.engine.sqlite.transaction import Transaction
from stanchion.records import Job, QueueStats, Timing
from stanchion.states import State

_TABLES = (
    *("jobs", "payloads", "tags", "dependencies", "releases", "throttles", "throttle_jobs", "queues", "workers", "tracked"),
    *("recurring", "stats", "histograms", "config", "tokens"),
)
_JOB = """INSERT INTO jobs (jid, klass, queue, state, priority, ready_at, seq, due, worker, expires, grace, popped_at, attempt,
    retries, remaining, tags, throttles, on_dependency_failure, spawned_from, failure, failure_group, failed_at, completed_at,
    history, history_count, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_LINK = """INSERT OR IGNORE INTO dependencies SELECT one.id, other.id FROM jobs AS one, jobs AS other
    WHERE one.jid = ? AND other.jid = ?"""
_PLACE = "UPDATE throttle_jobs SET held_since = ? WHERE throttle = ? AND job = (SELECT id FROM jobs WHERE jid = ?)"
_THROTTLE = """INSERT INTO throttle_jobs SELECT ?, id, NULL, CASE state WHEN 'throttled' THEN 1 WHEN 'waiting' THEN 2 ELSE 0 END,
    queue, priority, ready_at, seq FROM jobs WHERE id = ?"""
_TAG = "INSERT INTO tags SELECT ?, id, ? FROM jobs WHERE jid = ?"
_OVER = (State.COMPLETE, State.FAILED)


def holdings(tx: Transaction) -> Holdings:
    """Everything, as it is kept. The transaction's time must be one at which nothing has come due."""
    state = dump(tx)
    return Holdings(
        jobs=state.jobs,
        numbers={jid: number for number, jid in enumerate(state.jobs, 1)},
        completed=dict(tx.all("SELECT jid, completed_at FROM jobs WHERE state = 'complete' ORDER BY completed_at, seq")),
        failed=state.failures,
        tags={tag: {jid: number for number, jid in enumerate(jids, 1)} for tag, jids in state.tags.items()},
        places=_places(tx),
        tracked=dict(tx.all("SELECT jid, since FROM tracked ORDER BY number")),
        templates=state.recurring,
        offsets=dict(tx.all("SELECT jid, offset FROM recurring ORDER BY jid")),
        queues={
            name: (bool(known), bool(paused))
            for name, known, paused in tx.all(
                "SELECT name, known, paused FROM queues ORDER BY known DESC, CASE known WHEN 1 THEN number END, name"
            )
        },
        workers=dict(tx.all("SELECT name, seen FROM workers ORDER BY name")),
        throttles={
            name: (maximum, expires or 0.0)
            for name, maximum, expires in tx.all("SELECT id, maximum, expires FROM throttles ORDER BY id")
        },
        stats=state.stats,
        spreads=_spreads(tx, state),
        config={option: value for option, value in sorted(settings(tx).items()) if option != MARK},
        state=state,
    )


def load(tx: Transaction, part: Holdings, mark: str | None, anew: bool) -> None:
    """Write a part of what another database holds, and how far the move has come."""
    if anew:
        _clear(tx)
    _load_jobs(tx, part)
    _load_indexes(tx, part)
    _load_settings(tx, part)
    _load_stats(tx, part)
    tx.run("DELETE FROM config WHERE option = ?", MARK)
    if mark is not None:
        tx.run("INSERT INTO config VALUES (?, ?)", MARK, _text(mark))
    forget_settings(tx)
    for name, (_, paused) in part.queues.items():
        if not paused:
            tx.wake(name)


def _clear(tx: Transaction) -> None:
    for table in _TABLES:
        tx.run(f"DELETE FROM {table}")
    tx.run("UPDATE tallies SET count = 0")


def _load_jobs(tx: Transaction, part: Holdings) -> None:
    for jid, job in part.jobs.items():
        number = tx.insert(_JOB, *_columns(job, part.numbers[jid], part.completed.get(jid)))
        tx.run("INSERT INTO payloads VALUES (?, ?, ?)", number, job.data, job.result)
        if job.state != State.COMPLETE:
            tx.run_many(_THROTTLE, [(throttle, number) for throttle in job.throttles])
        if job.state in _OVER and job.dependents:
            tx.run("INSERT INTO releases VALUES (?)", number)
    # Either side may come first: a link is made once both are there.
    tx.run_many(_LINK, [(jid, other) for jid, job in part.jobs.items() for other in job.dependencies])
    tx.run_many(_LINK, [(other, jid) for jid, job in part.jobs.items() for other in job.dependents])
    if part.completed:
        tx.run("UPDATE tallies SET count = (SELECT count(*) FROM jobs WHERE state = 'complete') WHERE name = 'complete'")
    tx.pass_number(max([tx.last_number, *part.numbers.values()]))


def _columns(job: Job, number: int, completed_at: float | None) -> tuple[Any, ...]:
    failure = job.failure
    failed = failure if job.state == State.FAILED else None
    return (
        *(job.jid, job.klass, job.queue, job.state, job.priority, job.ready_at, number, job.due, job.worker, job.expires),
        *(int(job.grace), job.popped_at, job.attempt, job.retries, job.remaining, texts(job.tags), texts(job.throttles)),
        *(job.on_dependency_failure, job.spawned_from_jid),
        encode_failure(failure.group, failure.message, failure.when, failure.worker) if failure else None,
        *((failed.group, failed.when) if failed else (None, None)),
        *(completed_at, ",".join(_text((one.what, one.when, one.more)) for one in job.history), len(job.history)),
        checksum(job.klass, job.data),
    )


def _load_indexes(tx: Transaction, part: Holdings) -> None:
    tx.run_many(_TAG, [(tag, number, jid) for tag, jids in part.tags.items() for jid, number in jids.items()])
    tx.run_many(_PLACE, [(since, name, jid) for name, jids in part.places.items() for jid, since in jids.items()])
    tx.run_many("INSERT INTO tracked VALUES (?, ?, ?)", [(jid, since, tx.number()) for jid, since in part.tracked.items()])
    tx.pass_number(max([tx.last_number, *(number for jids in part.tags.values() for number in jids.values())]))


def _load_settings(tx: Transaction, part: Holdings) -> None:
    for name, (known, paused) in part.queues.items():
        tx.run("DELETE FROM queues WHERE name = ?", name)
        if known or paused:
            tx.run("INSERT INTO queues VALUES (?, ?, ?, ?)", name, tx.number(), int(known), int(paused))
    tx.run_many("INSERT INTO workers VALUES (?, ?)", part.workers.items())
    tx.run_many("INSERT INTO throttles VALUES (?, ?, ?)", _limits(part))
    for one in part.templates.values():
        schedule = (one.interval, part.offsets.get(one.jid, 0.0), one.next_due)
        row = (one.jid, one.klass, one.data, one.queue, *schedule, one.priority, texts(one.tags), one.retries, one.backlog)
        tx.run("INSERT INTO recurring VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *row, texts(one.throttles), one.count)
    options = ((option, _text(value)) for option, value in part.config.items())
    tx.run_many("INSERT INTO config VALUES (?, ?)", options)


def _limits(part: Holdings) -> Iterable[tuple[str, int, float | None]]:
    return ((name, maximum, expires or None) for name, (maximum, expires) in part.throttles.items())


def _load_stats(tx: Transaction, part: Holdings) -> None:
    for queue, days in part.stats.items():
        for day, stats in days.items():
            waits, runs = part.spreads[queue][day]
            tx.run(
                "INSERT INTO stats VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *(queue, day, stats.wait.count, stats.wait.mean, waits, stats.run.count, stats.run.mean, runs),
                *(stats.retries, stats.failures, stats.failed),
            )
            for kind, timing in (("wait", stats.wait), ("run", stats.run)):
                tx.run_many("INSERT INTO histograms VALUES (?, ?, ?, ?, ?)", _buckets(queue, day, kind, timing))


def _buckets(queue: str, day: int, kind: str, timing: Timing) -> list[tuple[str, int, str, int, int]]:
    return [(queue, day, kind, bucket, count) for bucket, count in enumerate(timing.histogram) if count]


def _places(tx: Transaction) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    sql = (
        "SELECT throttle, jid, held_since FROM throttle_jobs JOIN jobs ON jobs.id = job WHERE held_since IS NOT NULL"
        " ORDER BY throttle, held_since, jobs.seq"
    )
    for throttle, jid, since in tx.all(sql):
        found[throttle][jid] = since
    return dict(found)


def _spreads(tx: Transaction, state: StateDump) -> dict[str, dict[int, tuple[float, float]]]:
    found: dict[str, dict[int, tuple[float, float]]] = defaultdict(dict)
    for queue, day, waits, runs in tx.all("SELECT queue, day, wait_m2, run_m2 FROM stats ORDER BY queue, day"):
        if state.stats.get(queue, {}).get(day, QueueStats()) != QueueStats():
            found[queue][day] = (waits, runs)
    return dict(found)


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
