"""What happens to tracked jobs is told."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from stanchion.compat.qless.listener import Listener
from tests.compat.conftest import Face
from tests.worker.waiting import until


def test_functions_are_called_as_jobs_go_on(ours: Face) -> None:
    heard: list[tuple[str, str]] = []
    events = ours.client.events
    for event in events.events:
        events.on(event, lambda jid, event=event: heard.append((event, jid)))
    q = ours.client.queues["q"]
    q.put("k", {}, jid="one")
    q.put("k", {}, jid="unheard")
    with events.thread():
        ours.client.track("one")
        q.pop().complete("r")
        ours.client.queues["r"].pop().fail("g", "m")
        ours.client.jobs["one"].cancel()
        until(lambda: ("canceled", "one") in heard)
    assert {jid for _, jid in heard} == {"one"}
    assert {"track", "popped", "failed", "canceled"} <= {event for event, _ in heard}


def test_a_function_that_raises_does_not_end_the_listening(ours: Face, caplog: pytest.LogCaptureFixture) -> None:
    heard = threading.Event()
    events = ours.client.events
    events.on("track", lambda jid: {}[jid])
    events.on("untrack", lambda jid: heard.set())
    ours.client.queues["q"].put("k", {}, jid="one")
    with events.thread():
        ours.client.track("one")
        ours.client.untrack("one")
        assert heard.wait(20)
    assert "KeyError" in caplog.text


def test_functions_can_be_taken_away(ours: Face) -> None:
    events = ours.client.events
    assert events is ours.client.events
    first: Any = print
    events.on("put", first)
    assert events.off("put") is first
    assert events.off("put") is None
    with pytest.raises(NotImplementedError, match="nothing"):
        events.on("nothing", first)
    events.unlisten()


def test_any_channel_can_be_listened_to(ours: Face) -> None:
    q = ours.client.queues["q"]
    q.put("k", {}, jid="one")
    q.pop()
    listener = Listener(ours.client, ["ql:w:w"])
    with listener.thread():
        pass  # by itself it only hears
    listener = Listener(ours.client, ["ql:w:w"])
    heard = listener.listen()
    listener._subscribed()  # as thread() does before it begins
    ours.client.jobs["one"].cancel()
    message = next(heard)
    listener.unlisten()
    assert list(heard) == []
    assert (message["channel"], message["type"], json.loads(message["data"])["event"]) == ("ql:w:w", "message", "canceled")
