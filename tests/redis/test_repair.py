"""fsck on Redis: what is found in keys that were tampered with, and what is mended. The commands' ``$`` is the namespace."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import redis

from stanchion import commands as c
from stanchion.engine.redis import repair
from stanchion.engine.redis.mending.entries import set_of
from tests.redis.keys import DAY, NOW, Keys

pytestmark = pytest.mark.slow


@pytest.fixture
def queue(keys: Keys) -> Keys:
    """A job in every state, and one of everything else."""
    keys.call(c.SetThrottle("narrow", 1))
    keys.call(c.Put("q", "running", "K", tags=("red",), throttles=("narrow",), priority=9))
    keys.call(c.Put("q", "throttled", "K", throttles=("narrow", "wide/é"), priority=8))
    keys.call(c.Put("q", "complete", "K", priority=7))
    keys.call(c.Put("q", "failed", "K", priority=6))
    assert len(keys.call(c.Pop("q", "worker", 3))) == 3
    keys.call(c.Complete("complete", "worker", "q"))
    keys.call(c.Fail("failed", "worker", "oops", "it broke"))
    keys.call(c.Put("p", "stalled", "K"))
    keys.call(c.Pop("p", "worker", 1))
    keys.call(c.Timeout(("stalled",)))
    keys.call(c.Put("q", "waiting", "K", tags=("red", "green"), throttles=("other",)))
    keys.call(c.Put("q", "depends", "K", depends=("waiting",), on_dependency_failure="fail"))
    keys.call(c.Put("q", "scheduled", "K", delay=60))
    keys.call(c.Recur("q", "template", "K", "{}", 60.0, tags=("blue",)))
    keys.call(c.SetThrottle("brief", 3, 60))
    keys.call(c.SetConfig("heartbeat", 30))
    keys.call(c.Track("waiting"))
    assert keys.check() == []
    return keys


def found(keys: Keys, *, fix: bool = False) -> set[tuple[str, str, bool]]:
    return {(one.code, one.subject, one.mended) for one in keys.check(fix=fix)}


HELD = '$x:held:q\0["narrow","wide\\/é"]'

MENDABLE = {
    "job of the wrong type": (["DEL $j:waiting", "SET $j:waiting x"], "wrong-type"),
    "line of the wrong type": (["DEL $q:q-work", "LPUSH $q:q-work x"], "wrong-type"),
    "options of the wrong type": (["DEL $config", "SET $config x"], "wrong-type"),
    "history of the wrong type": (["DEL $j:waiting-history", "SET $j:waiting-history x"], "wrong-type"),
    "tokens of the wrong type": (["SET $x:tokens:m1 x"], "wrong-type"),
    "a job that will go": (["EXPIRE $j:waiting 100"], "expires"),
    "a limit that will go": ([f"EXPIREAT $th:narrow {int(NOW) * 2}"], "expires"),
    "an index that will go": (["EXPIRE $t:red 100"], "expires"),
    "a job's record lost": (["DEL $j:waiting"], "no-record"),
    "a running job's record lost": (["DEL $j:running"], "no-record"),
    "a throttled job's record lost": (["DEL $j:throttled"], "orphan"),
    "a complete job's record lost": (["DEL $j:complete"], "no-record"),
    "a failed job's record lost": (["DEL $j:failed"], "no-record"),
    "a template's record lost": (["DEL $r:template"], "stray-template"),
    "history of nobody": (["RPUSH $j:nobody-history x"], "orphan"),
    "dependents of nobody": (["SADD $j:nobody-dependents waiting"], "orphan"),
    "not in the line": (["ZREM $q:q-work waiting"], "wrong-place"),
    "in another line too": (["ZADD $q:other-work 0 waiting"], "wrong-place"),
    "waiting and running": ([f"ZADD $q:q-locks {NOW + 9} waiting"], "wrong-place"),
    "last in line by mistake": (["ZADD $q:q-work -9 waiting"], "out-of-line"),
    "lock with another end": (["ZADD $q:q-locks 5 running"], "wrong-time"),
    "due at another time": (["ZADD $q:q-scheduled 5 scheduled"], "wrong-place"),
    "not in the schedule": (["DEL $q:q-scheduled"], "wrong-place"),
    "not on its worker's list": (["DEL $w:worker:jobs"], "missing-worker"),
    "on another worker's list": (["ZADD $w:stranger:jobs 5 running"], "stray-entry"),
    "not complete": (["ZREM $completed complete"], "wrong-place"),
    "failed twice": (["RPUSH $f:oops failed"], "wrong-place"),
    "failed in another group": (["RPUSH $f:other failed", "SADD $failures other"], "wrong-place"),
    "groups short": (["DEL $failures"], "group-list"),
    "groups long": (["SADD $failures none"], "group-list"),
    "group of the record": (["HDEL $j:failed x-group"], "group-by-record"),
    "index of tags short": (["ZREM $t:green waiting"], "missing-tag"),
    "index of tags long": (["ZADD $t:blue 1 waiting"], "stray-tag"),
    "count of tags off": (["ZADD $tags 7 red"], "tag-count"),
    "place of a waiting job": (["ZADD $th:narrow-locks 1 waiting"], "lost-place"),
    "not pending": (["DEL $th:narrow-pending"], "missing-throttle"),
    "not in line for its throttle": (["DEL $x:line:narrow\0q"], "missing-entry"),
    "in a line that it does not bear": (["ZADD $x:line:brief\0q 1 waiting", "SADD $x:lines:brief q"], "stray-entry"),
    "queues in line lost": (["DEL $x:lines:other"], "throttle-list"),
    "not held": ([f"DEL {HELD}"], "missing-entry"),
    "sets of throttles lost": (["DEL $x:sets:q"], "throttle-list"),
    "limits lost": (["DEL $x:throttles"], "throttle-list"),
    "ends of limits lost": (["DEL $x:expiring"], "throttle-list"),
    "dependent not known": (["SREM $j:waiting-dependents depends"], "one-sided-dependency"),
    "dependent that waits for none": (["SADD $j:scheduled-dependents depends"], "one-sided-dependent"),
    "dependency of a waiting job": (["SADD $j:waiting-dependencies scheduled"], "depends-by-state"),
    "dependency on nothing": (["SADD $j:depends-dependencies nobody"], "lost-dependency"),
    "its only dependency lost": (["DEL $j:depends-dependencies"], "depends-by-state"),
    "who is concerned lost": (["DEL $x:concerned:waiting"], "concerned"),
    "not known to be awaited": (["HDEL $j:waiting x-awaited"], "awaited"),
    "release of a waiting job": (["SADD $x:releases waiting"], "stray-release"),
    "worker of a waiting job": (["HSET $j:waiting worker w"], "worker-by-state"),
    "running for nobody": (["HSET $j:running worker "], "worker-by-state"),
    "lock without an end": (["HSET $j:running expires 0"], "expiry-by-state"),
    "grace of a waiting job": (["HSET $j:waiting grace 1"], "grace-by-state"),
    "complete in a queue": (["HSET $j:complete queue q"], "queue-by-state"),
    "waiting with a due time": (["HSET $j:waiting x-due 5"], "due-by-state"),
    "too many retries left": (["HSET $j:waiting remaining 9"], "remaining"),
    "throttled by none": (["HSET $j:throttled throttles []"], "throttled-by-none"),
    "priority no number": (["HSET $j:waiting priority high"], "broken-record"),
    "state none": (["HSET $j:waiting state lost"], "broken-record"),
    "data lost": (["HDEL $j:scheduled data"], "broken-record"),
    "queue lost": (["HDEL $j:waiting queue"], "broken-record"),
    "tags no JSON": (["HSET $j:running tags ["], "broken-record"),
    "running, without a state": (["HDEL $j:running state"], "broken-record"),
    "tags of a complete job no JSON": (["HSET $j:complete tags ["], "unreadable-record"),
    "policy none": (["HSET $j:depends x-policy perhaps"], "unreadable-record"),
    "failure no JSON": (["HSET $j:failed failure {"], "unreadable-record"),
    "history no JSON": (["RPUSH $j:complete-history x"], "unreadable-record"),
    "all but the jid lost": (["DEL $j:stalled", "HSET $j:stalled jid stalled"], "broken-record"),
    "template's tags no JSON": (["HSET $r:template tags ["], "broken-template"),
    "template's interval none": (["HSET $r:template interval 0"], "broken-template"),
    "template not scheduled": (["DEL $q:q-recur"], "missing-template"),
    "option no number": (["HSET $config heartbeat x"], "broken-option"),
    "statistics not listed": (["DEL $x:days"], "unlisted-statistics"),
    "count of failed off": ([f"HSET $s:stats:{DAY}:q failed 7"], "failed-count"),
}


@pytest.mark.parametrize(("commands", "code"), MENDABLE.values(), ids=MENDABLE.keys())
def test_what_is_wrong_is_found_and_mended(queue: Keys, commands: list[str], code: str) -> None:
    queue.run(*commands)
    before = found(queue)
    assert code in {code for code, _, _ in before}
    assert found(queue) == before
    mended = found(queue, fix=True)
    assert {(code, subject) for code, subject, _ in mended} == {(code, subject) for code, subject, _ in before}
    assert found(queue) == set()
    assert {was_mended for _, _, was_mended in mended} == {True}


def test_all_at_once(queue: Keys) -> None:
    for commands, _ in MENDABLE.values():
        with suppress(redis.ResponseError):  # what was of the wrong type before
            queue.run(*commands)
    assert found(queue)
    queue.check(fix=True)
    assert found(queue) == set()


def test_a_repaired_queue_goes_on(queue: Keys) -> None:
    queue.run("DEL $q:q-work", "DEL $q:q-depends", "DEL $x:releases", "DEL $j:depends-dependencies", "DEL $x:line:narrow\0q")
    queue.check(fix=True)
    assert {job.jid for job in queue.call(c.Pop("q", "other", 9))} >= {"waiting", "depends"}
    queue.call(c.Complete("running", "worker", "q"))
    assert [job.jid for job in queue.call(c.Pop("q", "other", 9))] == ["throttled"]
    assert found(queue) == set()


def test_dependents_that_were_never_told_are_told_by_the_commands_that_follow(queue: Keys) -> None:
    queue.run("SREM $j:depends-dependencies waiting", "SADD $j:depends-dependencies complete")
    assert ("untold-dependents", "complete", False) in found(queue)
    assert ("untold-dependents", "complete", True) in found(queue, fix=True)
    assert "depends" in {job.jid for job in queue.call(c.Pop("q", "worker", 9), NOW + 100)}


def test_a_job_that_is_set_aside_says_why(queue: Keys) -> None:
    queue.run("HSET $j:waiting state lost")
    queue.check(fix=True)
    failure = queue.sound().jobs["waiting"].failure
    assert failure is not None
    assert (failure.group, "'lost'" in failure.message) == ("broken-record", True)


def test_what_only_a_guess_could_mend_is_left_and_said_so(queue: Keys) -> None:
    queue.run("HSET $r:template data [", "SADD $j:depends-dependencies depends", "SADD $j:depends-dependents depends")
    left = {("broken-template-data", "template", False), ("circle", "depends", False)}
    assert left <= found(queue, fix=True)
    assert found(queue) == left


def test_what_changes_meanwhile_is_left_alone(queue: Keys) -> None:
    """A job that is popped between the look and the mending stays popped."""
    queue.run("ZADD $q:q-work -9 waiting")
    talk = repair.check(queue.namespace, fix=True, now=NOW)
    commands = next(talk)
    while commands[0][0] != "WATCH":
        commands = talk.send(queue.replies(commands))
    queue.call(c.Cancel(("waiting", "depends")))
    while True:
        try:
            commands = talk.send(queue.replies(commands))
        except StopIteration:
            break
    assert found(queue) == set()
    assert "waiting" not in queue.sound().jobs


def test_a_broken_key_is_kept(queue: Keys) -> None:
    queue.run("DEL $t:red", "SET $t:red precious")
    queue.check(fix=True)
    assert queue.redis.get("ql:x:broken:ql:t:red") == b"precious"
    assert queue.sound().tags["red"] == ("running", "waiting")


def test_old_data_is_adopted(keys: Keys) -> None:
    """What old scripts did not keep is made, and nothing else is found."""
    old = {"klass": "k", "data": "{}", "queue": "q", "time": "5", "tags": "{}", "history": '[{"put": 5, "q": "q"}]'}
    failure = json.dumps({"group": "g", "message": "m", "when": DAY + 5, "worker": "w"})
    keys.redis.hset("ql:j:a", mapping={**old, "state": "failed", "failure": failure, "worker": "", "expires": "0"})
    keys.run("SADD $failures g", "LPUSH $f:g a", f"HSET $s:stats:{DAY}:q failed 1 failures 1", "ZADD $queues 5 q")
    keys.redis.hset("ql:j:b", mapping={**old, "state": "stalled", "worker": "w"})
    keys.redis.hset("ql:j:c", mapping={**old, "state": "waiting", "throttles": '["ql:q:q"]'})
    keys.redis.zadd("ql:q:q-work", {"b": float("inf"), "c": -5 / 1e10})
    keys.redis.rpush("ql:j:b-history", '[6,"popped",{"worker":"w"}]', '[7,"timed-out"]')
    codes = {
        "group-by-record",
        "unlisted-statistics",
        "worker-by-state",
        "missing-entry",
        "throttle-list",
        "timed-out-in-line",
    }
    assert {code for code, _, _ in found(keys)} == codes
    assert all(mended for _, _, mended in found(keys, fix=True))
    assert found(keys) == set()
    assert [entry.what for entry in keys.dump().jobs["b"].history] == ["put", "popped", "timed-out"]
    assert [job.jid for job in keys.call(c.Pop("q", "w", 5))] == ["b", "c"]
    assert keys.call(c.Unfail("q", "g", 5)) == 1
    assert found(keys) == set()


def test_names_are_written_as_the_library_writes_them(keys: Keys) -> None:
    odd = ("a/b", '"', "\\", "é", "\t\n\r\b\f\x01\x1f\x7f", "[]", "😀")
    written = keys.redis.eval("return cjson.encode(ARGV)", 0, *odd)
    keys.job("a", throttles=json.dumps(odd))
    assert set_of(keys.dump().jobs["a"]) == written.decode()


def test_others_may_be_at_work(queue: Keys, socket: Path) -> None:
    """While jobs are put and done in a hurry, mending breaks nothing."""
    other, over = Keys(socket), threading.Event()

    def work() -> None:
        number = 0
        while not over.is_set():
            number += 1
            depends = (f"busy-{number % 60 - 1}",) if number % 2 else ()
            other.call(c.Put("busy", f"busy-{number % 60}", "K", tags=("red",), throttles=("wide",), depends=depends))
            for job in other.call(c.Pop("busy", "w", 2)):
                other.call(c.Fail(job.jid, "w", "g", "") if number % 5 == 0 else c.Complete(job.jid, "w", "busy"))
            other.call(c.Unfail("busy", "g", 1))

    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        try:
            for _ in range(4):
                queue.run("ZADD $tags 7 green", "ZADD $q:q-work -9 waiting", "SADD $failures none")
                queue.check(fix=True)
        finally:
            over.set()
        working.result()
    other.close()
    assert queue.check() == []
    assert sum(jid.startswith("busy-") for jid in queue.dump().jobs) == 60
