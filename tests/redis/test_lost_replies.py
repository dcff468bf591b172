"""An answer that is lost, at any byte, after any command that changes something: it is asked for again, and happened once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from stanchion import commands as c
from stanchion.client.open import open_async_engine, open_engine
from stanchion.commands import VOCABULARY
from stanchion.errors import OutcomeUnknown
from tests.model.comparing import plain
from tests.redis.cutting import CuttingProxy
from tests.servers import SHARED

NOW = 1000.0

FILLING: tuple[c.Command[Any], ...] = (
    c.Put("q", "held", "k", '{"x": 1}', priority=2.0, tags=("t",)),
    c.Put("q", "other", "k", priority=1.0),
    c.Pop("q", "w", 2),
    c.Put("q", "failing", "k", priority=3.0),
    c.Pop("q", "w"),
    c.Fail("failing", "w", "g", "m"),
    c.Put("q", "a", "k", tags=("t",), throttles=("th",)),
    c.Put("q", "b", "k"),
    c.Put("q", "child", "k", depends=("a",)),
    c.Recur("q", "r", "k", "{}", 100.0, 50.0, tags=("t",)),
    c.SetThrottle("th", 1),
    c.Track("a"),
    c.SetConfig("heartbeat", 30),
)

COMMANDS: dict[str, c.Command[Any]] = {
    "put": c.Put("q", "new", "k", '{"text": "long enough to be cut"}', delay=5.0),
    "put_many": c.PutMany([c.Put("q", "n1", "k"), c.Put("q", "n2", "k", depends=("a",))]),
    "requeue": c.Requeue("p", "b"),
    "unfail": c.Unfail("q", "g"),
    "cancel": c.Cancel(("b", "held")),
    "timeout": c.Timeout(("held",)),
    "pop": c.Pop("q", "v", 2),
    "peek": c.Peek("q", 2),
    "heartbeat": c.Heartbeat("held", "w"),
    "complete": c.Complete("held", "w", "q", next="p", result="[1]"),
    "complete_many": c.CompleteMany([c.Complete("held", "w", "q"), c.Complete("other", "w", "q")]),
    "fail": c.Fail("held", "w", "g", "a message"),
    "retry": c.Retry("held", "q", "w", group="g", message="m"),
    "priority": c.SetPriority("b", 7.5),
    "log": c.Log("b", "noted", '{"more": 1}'),
    "depend": c.Depend("child", ("b",)),
    "undepend": c.Undepend("child"),
    "track": c.Track("b"),
    "untrack": c.Untrack("a"),
    "tag": c.AddTags("b", ("t", "u")),
    "untag": c.RemoveTags("a", ("t",)),
    "recur": c.Recur("q", "r2", "k", "{}", 10.0),
    "unrecur": c.Unrecur("r"),
    "recur.update": c.UpdateRecurring("r", interval=30.0),
    "recur.tag": c.TagRecurring("r", ("u",)),
    "recur.untag": c.UntagRecurring("r", ("t",)),
    "pause": c.Pause(("q",)),
    "unpause": c.Unpause(("q",)),
    "queue.forget": c.ForgetQueues(("q",)),
    "worker.deregister": c.Deregister(("w",)),
    "throttle.set": c.SetThrottle("th", 3),
    "throttle.delete": c.DeleteThrottle("th"),
    "throttle.release": c.ReleaseThrottle("th", ("a",)),
    "config.set": c.SetConfig("colour", "red"),
    "config.unset": c.UnsetConfig("heartbeat"),
}


@pytest.fixture(scope="module")
def proxy() -> Iterator[CuttingProxy]:
    with CuttingProxy(SHARED.get("valkey").port) as proxy:
        yield proxy
    SHARED.remove()


def fresh() -> str:
    """The URL of a namespace that is filled."""
    url = SHARED.url("valkey")
    with open_engine(url) as engine:  # type: ignore[attr-defined]
        for command in FILLING:
            engine.run(command, now=NOW)
    return url


def through(proxy: CuttingProxy, url: str) -> str:
    return url.replace(str(SHARED.get("valkey").port), str(proxy.port))


def state(url: str) -> Any:
    with open_engine(url) as engine:  # type: ignore[attr-defined]
        assert engine.check(now=NOW + 1) == []
        return plain(engine.dump(now=NOW + 1))


def once(command: c.Command[Any]) -> tuple[Any, Any]:
    """What the command answers, and what is then, if nothing is lost."""
    url = fresh()
    with open_engine(url) as engine:  # type: ignore[attr-defined]
        reply = engine.run(command, now=NOW + 1)
    return reply, state(url)


def test_every_command_that_writes_is_here() -> None:
    assert set(COMMANDS) == {name for name, command in VOCABULARY.items() if not command.reads}


def lose_answers(command: c.Command[Any], proxy: CuttingProxy, next_offset: Callable[[int, int], int]) -> int:
    """Lose the command's answer after ever more of its bytes; each time it happened once. How often it was lost."""
    expected, after = once(command)
    size, at, lost = 1, 0, 0
    while at < size:
        url = fresh()
        with open_engine(through(proxy, url)) as engine:  # type: ignore[attr-defined]
            engine.run(c.Length("q"))  # so that what is cut is the command's own answer
            proxy.cut_reply(at)
            cuts = proxy.cuts
            assert engine.run(command, now=NOW + 1) == expected, at
            assert proxy.cuts == cuts + 1, at
        assert state(url) == after, at
        size, lost = proxy.size, lost + 1
        at = next_offset(at, size)
    return lost


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_lost_answer(name: str, proxy: CuttingProxy) -> None:
    def sampled(at: int, size: int) -> int:
        return at + (1 if at < 3 or at > size - 4 else max(1, (size - 3) // 4))

    assert lose_answers(COMMANDS[name], proxy, sampled) > 2


@pytest.mark.live
@pytest.mark.parametrize("name", COMMANDS)
def test_an_answer_lost_at_every_byte(name: str, proxy: CuttingProxy) -> None:
    lost = lose_answers(COMMANDS[name], proxy, lambda at, size: at + 1)
    print(f"{name}: lost after each of its {lost} bytes, done once each time")
    assert lost == proxy.size


@pytest.mark.slow
@pytest.mark.parametrize("name", ["put", "pop", "complete", "retry", "cancel", "log"])
def test_a_lost_request(name: str, proxy: CuttingProxy) -> None:
    command = COMMANDS[name]
    expected, after = once(command)
    for at in (0, 1, 10, 60, 120):
        url = fresh()
        with open_engine(through(proxy, url)) as engine:  # type: ignore[attr-defined]
            engine.run(c.Length("q"))
            proxy.cut_request(at)
            assert engine.run(command, now=NOW + 1) == expected, at
        assert state(url) == after, at


@pytest.mark.slow
@pytest.mark.parametrize("name", ["put", "pop", "complete", "retry", "cancel", "log"])
def test_a_lost_answer_awaited(name: str, proxy: CuttingProxy) -> None:
    command = COMMANDS[name]
    expected, after = once(command)

    async def run(url: str, at: int) -> Any:
        async with open_async_engine(through(proxy, url)) as engine:
            await engine.run(c.Length("q"))
            proxy.cut_reply(at)
            return await engine.run(command, now=NOW + 1)

    for at in (0, 1, 5):
        url = fresh()
        assert asyncio.run(run(url, at)) == expected, at
        assert state(url) == after, at


@pytest.mark.slow
def test_many_commands_of_which_the_answers_are_lost(proxy: CuttingProxy) -> None:
    commands = [c.Put("q", f"n{number}", "k") for number in range(20)] + [c.Pop("q", "v", 3), c.Log("b", "noted")]
    url = fresh()
    with open_engine(through(proxy, url)) as engine:  # type: ignore[attr-defined]
        engine.run(c.Length("q"))
        proxy.cut_reply(30)
        outcomes = engine.run_many(commands, now=NOW + 1)
    assert [outcome.error for outcome in outcomes] == [None] * len(commands)
    with open_engine(url) as engine:  # type: ignore[attr-defined]
        assert [entry.what for entry in engine.run(c.Get("b"), now=NOW + 1).history].count("noted") == 1
        assert engine.run(c.Length("q"), now=NOW + 1) == 2 + 2 + 20
        assert engine.run(c.JobsOfWorker("v"), now=NOW + 1).jobs.__len__() == 3


def test_without_an_answer_in_time_the_outcome_is_unknown() -> None:
    with CuttingProxy(SHARED.get("valkey").port) as proxy:
        url = fresh()
        engine = open_engine(through(proxy, url))
        engine.run(c.Length("q"))
        proxy.cut_reply(0)
        proxy.close()  # nobody lets it in again
        with pytest.raises(OutcomeUnknown):
            engine.run(COMMANDS["put"], now=NOW + 1, timeout=0.5)
        assert len(state(url)["jobs"]) == 7
