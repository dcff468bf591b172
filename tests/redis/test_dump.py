"""The whole state out of keys that were written by hand, as the plan of the keys says."""

from __future__ import annotations

import json

from stanchion.engine.contract import QueueState, WorkerState
from stanchion.engine.invariants import check
from stanchion.records import Failure, HistoryEntry, Job, QueueStats, RecurringJob, Throttle, Timing
from stanchion.rules.histogram import LABELS
from stanchion.states import State
from tests.redis.keys import DAY, NOW, Keys


def score(priority: float, ready: float) -> float:
    return priority - ready / 1e10


def test_nothing_is_an_empty_state(keys: Keys) -> None:
    state = keys.sound()
    assert (state.now, state.jobs, state.queues, state.complete, state.stats) == (NOW, {}, {}, (), {})
    assert state.config["heartbeat"] == 60


def test_only_the_namespace_is_read(keys: Keys) -> None:
    keys.namespace = "a[b]*\\:"
    keys.job("mine")
    keys.redis.hset("ab*:j:other", "state", "waiting")
    keys.redis.zadd(f"{keys.namespace}q:q-work", {"mine": score(0, NOW)})
    assert set(keys.sound().jobs) == {"mine"}


def test_a_whole_record(keys: Keys) -> None:
    failure = {"group": "g", "message": "m", "when": NOW - 9.5, "worker": "v"}
    keys.job(
        "a",
        **{"priority": "2.5", "retries": "3", "remaining": "1", "tags": '["t","ü"]', "spawned_from_jid": "r", "x_seq": "7"},
        **{"state": "running", "worker": "w", "expires": repr(NOW + 60.25), "x_popped": repr(NOW), "x_attempt": "4"},
        **{"failure": json.dumps(failure), "x_result": "[1]", "x_policy": "run", "grace": "1", "throttles": '["th"]'},
    )
    keys.redis.rpush(
        "ql:j:a-history", f'[{NOW - 10!r},"put",{{"q":"q"}}]', f'[{NOW!r},"popped",{{"worker":"w"}}]', '[1,"done",{}]'
    )
    keys.redis.zadd("ql:q:q-locks", {"a": NOW + 60.25})
    keys.run(f"ZADD $w:w:jobs {NOW + 60.25!r} a", f"ZADD $workers {NOW!r} w", "ZADD $queues 1 q", f"ZADD $tracked {NOW!r} a")
    keys.redis.zadd("ql:t:t", {"a": 1})
    keys.redis.zadd("ql:t:ü", {"a": 1})
    keys.redis.zadd("ql:th:th-locks", {"a": NOW})
    state = keys.sound()
    assert state.jobs["a"] == Job(
        *("a", "k", "{}", "q", State.RUNNING, "w", NOW + 60.25, 2.5, 3, 1, ("t", "ü"), (), (), ("th",), True, "r"),
        Failure("g", "m", NOW - 9.5, "v"),
        (HistoryEntry("put", NOW - 10, {"q": "q"}), HistoryEntry("popped", NOW, {"worker": "w"}), HistoryEntry("done", 1)),
        *(4, "[1]", "run", 0.0, NOW, NOW, True),
    )
    assert state.queues["q"] == QueueState(running={"a": NOW + 60.25})
    assert state.workers == {"w": WorkerState(NOW, ("a",))}
    assert state.tags == {"t": ("a",), "ü": ("a",)}
    assert state.throttles["th"].locks == ("a",)
    assert state.tracked == ("a",)


def test_the_order_of_a_line(keys: Keys) -> None:
    """Priority, then age, then the order of puts, though the scores are equal; due jobs stand among the rest."""
    jobs = {"late": (0, 0, 9), "old": (0, -5, 8), "high": (3, 0, 7), "first": (0, 0, 1), "second": (0, 0, 2)}
    for jid, (priority, ready, seq) in jobs.items():
        keys.job(jid, priority=priority, x_ready=repr(NOW + ready), x_seq=seq)
        keys.redis.zadd("ql:q:q-work", {jid: score(priority, NOW + ready)})
    for jid, due in {"due": -1, "later": 5, "latest": 6, "last": 6}.items():
        keys.job(jid, state="scheduled", x_ready=repr(NOW + due), x_due=repr(NOW + due), x_seq=5 if jid == "last" else 4)
        keys.redis.zadd("ql:q:q-scheduled", {jid: NOW + due})
    state = keys.sound()
    assert state.queues["q"].waiting == ("high", "old", "due", "first", "second", "late")
    assert state.queues["q"].scheduled == {"later": NOW + 5, "latest": NOW + 6, "last": NOW + 6}
    assert list(state.queues["q"].scheduled) == ["later", "latest", "last"]
    assert (state.jobs["due"].state, state.jobs["due"].due, state.jobs["due"].ready_at) == ("waiting", 0, NOW - 1)
    assert next(iter(state.jobs)) == "first"


def test_the_other_orders(keys: Keys) -> None:
    for jid, seq in {"a": 3, "b": 1, "c": 2}.items():
        keys.job(f"stalled-{jid}", state="stalled", x_seq=seq)
        keys.redis.zadd("ql:q:q-locks", {f"stalled-{jid}": 0})
        keys.job(f"done-{jid}", state="complete", queue="", x_seq=seq)
        keys.redis.zadd("ql:completed", {f"done-{jid}": NOW})
        keys.job(f"held-{jid}", state="throttled", x_seq=seq, throttles='["th"]')
        keys.redis.zadd("ql:q:q-throttled", {f"held-{jid}": NOW})
        keys.redis.zadd("ql:th:th-pending", {f"held-{jid}": score(0, NOW)})
        failure = json.dumps({"group": "g", "message": "", "when": NOW, "worker": ""})
        keys.job(f"failed-{jid}", state="failed", x_seq=seq, failure=failure, x_failed=repr(NOW))
        keys.redis.rpush("ql:f:g", f"failed-{jid}")
        keys.job(f"blocked-{jid}", state="depends", x_seq=seq)
        keys.redis.zadd("ql:q:q-depends", {f"blocked-{jid}": NOW})
        keys.redis.sadd(f"ql:j:blocked-{jid}-dependencies", "failed-a")
        keys.redis.sadd("ql:j:failed-a-dependents", f"blocked-{jid}")
    keys.redis.hset(f"ql:s:stats:{DAY}:q", "failed", 3)
    state = keys.sound()
    assert state.queues["q"].stalled == ("stalled-b", "stalled-c", "stalled-a")
    assert state.queues["q"].depends == ("blocked-b", "blocked-c", "blocked-a")
    assert state.queues["q"].throttled == ("held-b", "held-c", "held-a")
    assert state.throttles["th"].pending == ("held-b", "held-c", "held-a")
    assert state.complete == ("done-a", "done-c", "done-b")
    assert state.failures == {"g": ("failed-a", "failed-c", "failed-b")}


def test_what_is_old_is_not_shown(keys: Keys) -> None:
    keys.run(f"ZADD $workers {NOW - 86401} gone {NOW - 86400} there")
    for days in (0, 6, 7, 29, 30):
        keys.run(f"HSET $s:wait:{DAY - days * 86400}:q total 2 mean 3 vk 2 s3 2")
    keys.run(f"HSET $s:stats:{DAY}:p retries 0")
    state = keys.sound()
    assert list(state.workers) == ["there"]
    drawn = tuple(2 if label == "s3" else 0 for label in LABELS)
    assert state.stats["q"][DAY - 6 * 86400] == QueueStats(wait=Timing(2, 3.0, 2.0**0.5, drawn))
    assert state.stats["q"][DAY - 29 * 86400] == QueueStats(wait=Timing(2, 3.0, 2.0**0.5))
    assert set(state.stats["q"]) == {DAY - days * 86400 for days in (0, 6, 7, 29)}
    assert set(state.stats) == {"q"}
    keys.run("HSET $config stats-history 1", "HSET $config max-worker-age 86401")
    state = keys.sound()
    assert (set(state.stats["q"]), set(state.workers)) == ({DAY}, {"gone", "there"})


def test_throttles_that_limit_hold_or_delay(keys: Keys) -> None:
    keys.run("HSET $th:limit id limit maximum 3", "HSET $th:none id none maximum 0")
    keys.run(f"HSET $th:over id over maximum 3 x-expires {NOW}", f"HSET $th:soon id soon maximum 3 x-expires {NOW + 5}")
    keys.run("HSET $th:by-server maximum 2", f"EXPIREAT $th:by-server {int(NOW) * 2}")
    found = {name: state.throttle for name, state in keys.sound().throttles.items()}
    assert found == {
        "limit": Throttle("limit", 3),
        "soon": Throttle("soon", 3, 5.0),
        "by-server": Throttle("by-server", 2, NOW),
    }


def test_templates_queues_and_options(keys: Keys) -> None:
    keys.run(
        'HSET $r:t jid t klass k data {} queue p interval 0.5 count 3 tags ["x"] x-offset 5', f"ZADD $q:p-recur {NOW!r} t"
    )
    keys.run("SADD $paused_queues q", "ZADD $queues 5 z 4 a")
    keys.run("HSET $config heartbeat 30 q-max-concurrency nonsense colour red grace-period 0.5")
    state = keys.sound()
    assert state.recurring == {"t": RecurringJob("t", "k", "{}", "p", 0.5, NOW, tags=("x",), count=3)}
    assert state.queues == {
        "q": QueueState(known=False, paused=True),
        "p": QueueState(known=False, recurring={"t": NOW}),
        "a": QueueState(),
        "z": QueueState(),
    }
    assert list(state.queues)[:2] == ["a", "z"]
    own = {option: state.config[option] for option in ("heartbeat", "colour", "grace-period")}
    assert own == {"heartbeat": 30, "colour": "red", "grace-period": 0.5}
    assert "q-max-concurrency" not in state.config


def test_jobs_of_old_scripts_are_read_as_found(keys: Keys) -> None:
    """No field of ours: the time of the last put or pop, the schedule's score, and history in one field."""
    old = [{"put": NOW - 9.5, "q": "q", "popped": NOW - 8, "worker": "w", "failed": NOW - 7}, {"put": NOW - 6, "q": "q"}]
    keys.redis.hset("ql:j:old", mapping={"jid": "old", "klass": "k", "data": "{}", "queue": "q", "state": "waiting"})
    keys.redis.hset("ql:j:old", mapping={"time": repr(NOW - 6), "history": json.dumps(old), "expires": "0", "worker": ""})
    keys.redis.hset("ql:j:old", mapping={"priority": "1", "failure": "{}", "tags": "{}", "throttles": '["ql:q:q"]'})
    keys.redis.rpush("ql:j:old-history", json.dumps([int(NOW), "put", {"queue": "q"}]), json.dumps([int(NOW), "timed-out"]))
    keys.redis.zadd("ql:q:q-work", {"old": score(1, NOW - 6), "first": float("inf")})
    keys.redis.hset("ql:j:sched", mapping={"queue": "q", "state": "scheduled", "klass": "k", "data": "{}"})
    keys.redis.zadd("ql:q:q-scheduled", {"sched": NOW + 9})
    keys.redis.hset("ql:j:run", mapping={"queue": "q", "state": "running", "worker": "w", "expires": repr(NOW + 60)})
    keys.redis.hset("ql:j:run", mapping={"time": repr(NOW), "retries": "2", "remaining": "1"})
    keys.redis.zadd("ql:q:q-locks", {"run": NOW + 60})
    keys.redis.hset("ql:j:first", mapping={"queue": "q", "state": "stalled", "worker": "w", "klass": "k", "data": "{}"})
    state = keys.sound()
    job = state.jobs["old"]
    assert [(one.what, one.when, one.more) for one in job.history] == [
        ("put", NOW - 9.5, {"q": "q"}),
        ("popped", NOW - 8, {"worker": "w"}),
        ("failed", NOW - 7, {"worker": "w"}),
        ("put", NOW - 6, {"q": "q"}),
        ("put", NOW, {"queue": "q"}),
        ("timed-out", NOW, {}),
    ]
    assert (job.ready_at, job.retries, job.tags, job.failure, job.attempt) == (NOW - 6, 5, (), None, 0)
    assert state.jobs["sched"].due == NOW + 9
    assert (state.jobs["run"].popped_at, state.jobs["run"].remaining) == (NOW, 1)
    assert state.queues["q"].stalled == ("first",)
    assert state.jobs["first"].worker == ""


GARBAGE = {
    **{field: "x" for field in ("priority", "retries", "remaining", "expires", "x_ready", "x_due", "x_seq", "x_attempt")},
    **{"tags": "[1]", "throttles": "[", "failure": "[1]", "history": "{", "x_policy": "?", "grace": "maybe"},
}


def test_garbage_reads_as_its_default(keys: Keys) -> None:
    keys.job("a", **GARBAGE)
    keys.redis.hset("ql:j:a", "data", b"\xff\xfe")
    keys.redis.rpush("ql:j:a-history", "[", "[1]", '[1,"put",{"q":"q"}]', '["x","put"]', b"\xff")
    keys.redis.zadd("ql:q:q-work", {"a": 0})
    assert keys.sound().jobs["a"] == Job("a", "k", "��", "q", State.WAITING, history=(HistoryEntry("put", 1.0, {"q": "q"}),))


def test_a_garbage_state_hides_nothing(keys: Keys) -> None:
    keys.job("a", state="lost")
    keys.job("b")
    keys.redis.zadd("ql:q:q-work", {"a": 5, "b": 5})
    state = keys.dump()
    assert (state.jobs["a"].state, state.queues["q"].waiting) == ("failed", ("a", "b"))
    assert ("wrong-place", "a") in {(finding.code, finding.subject) for finding in check(state)}


def test_names_that_look_like_other_keys(keys: Keys) -> None:
    for jid in ("a-history", "a", "-dependents"):
        keys.job(jid, queue="q-work")
        keys.redis.zadd("ql:q:q-work-work", {jid: 1})
    keys.redis.rpush("ql:j:a-history-history", '[1,"put",{}]')
    keys.run("HSET $th:x-locks maximum 2", "ZADD $workers 1700000000 a:jobs")
    state = keys.sound()
    assert set(state.jobs) == {"a-history", "a", "-dependents"}
    assert state.jobs["a-history"].history[0].what == "put"
    assert (set(state.queues), set(state.throttles), set(state.workers)) == ({"q-work"}, {"x-locks"}, {"a:jobs"})


def test_keys_of_the_wrong_type_hide_nothing_else(keys: Keys) -> None:
    keys.job("a")
    keys.redis.zadd("ql:q:q-work", {"a": 0})
    for key in ("ql:j:b", "ql:q:p-work", "ql:config", "ql:t:t", "ql:j:a-history"):
        keys.redis.set(key, "a text")
    assert set(keys.snapshot().wrong) == {"ql:j:b", "ql:q:p-work", "ql:config", "ql:t:t", "ql:j:a-history"}
    assert set(keys.sound().jobs) == {"a"}


def test_values_of_many_pages(keys: Keys) -> None:
    jids = [f"j{number}" for number in range(2500)]
    pipeline = keys.redis.pipeline()
    for number, jid in enumerate(jids):
        pipeline.hset(f"ql:j:{jid}", mapping={"queue": "q", "state": "failed", "x-seq": number, "x-failed": "1"})
        pipeline.hset(f"ql:j:{jid}", "failure", '{"group":"g","message":"","when":1,"worker":""}')
        pipeline.rpush("ql:f:g", jid)
        pipeline.zadd("ql:t:t", {jid: number})
        pipeline.hset(f"ql:j:{jid}", "tags", '["t"]')
    pipeline.execute()
    state = keys.sound()
    assert state.failures["g"] == tuple(reversed(jids))
    assert state.tags["t"] == tuple(jids)
