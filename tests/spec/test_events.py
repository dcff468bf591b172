"""Sections 7 and 8: events and configuration."""

from __future__ import annotations

import pytest

from stanchion import commands as c
from stanchion.errors import BadArgument, JobNotFound
from stanchion.rules.config import OPTIONS
from tests.spec.rig import Rig, spec


@spec("events.log", "events.worker")
def test_what_is_published_to_all(q: Rig) -> None:
    with q.events("log") as heard:
        q.put("a", 0)
        q.put("b", 0)
        q.pop(0, count=2)
        q.complete("a", 1, next="r")
        q.complete("b", 1)
        q.pop(2, queue="r")
        q.fail("a", 3, group="g", message="m")
        q.run(c.Cancel(["a"]))
        q.config("heartbeat", 30)
        q.run(c.UnsetConfig("heartbeat"))
    assert [message for _, message in heard] == [
        {"event": "put", "jid": "a", "queue": "q"},
        {"event": "put", "jid": "b", "queue": "q"},
        {"event": "advanced", "jid": "a", "queue": "q", "to": "r"},
        {"event": "completed", "jid": "b", "queue": "q"},
        {"event": "failed", "jid": "a", "worker": "w", "group": "g", "message": "m"},
        {"event": "canceled", "jid": "a", "worker": "", "queue": "r"},
        {"event": "config_set", "option": "heartbeat", "value": 30},
        {"event": "config_unset", "option": "heartbeat"},
    ]


@spec("events.tracked", "track.events")
def test_only_tracked_jobs_have_events_of_their_own(q: Rig) -> None:
    channels = ("track", "untrack", "put", "popped", "stalled", "completed", "failed", "canceled")
    with q.events(*channels) as heard:
        for jid in ("a", "silent"):
            q.put(jid, 0)
        q.run(c.Track("a"))
        q.put("a", 0, priority=1)
        q.pop(0, count=2)
        q.pop(61, count=2)
        q.complete("a", 62, next="q")
        q.pop(62)
        q.fail("a", 63)
        q.run(c.Cancel(["a"]))
        q.run(c.Untrack("a"))
        with q.refused(JobNotFound):
            q.run(c.Track("a"))
    expected = ["track", "put", "popped", "stalled", "completed", "popped", "failed", "canceled", "untrack"]
    assert heard == [(channel, "a") for channel in expected]


@spec("events.rollback")
def test_a_refused_command_publishes_nothing(q: Rig) -> None:
    q.put("a")
    with q.events() as heard, pytest.raises(BadArgument):
        q.run(
            c.PutMany(
                [
                    c.Put("q", "b", "k"),
                    c.Put("q", "x", "k"),
                    c.Put("q", "y", "k", depends=["x"]),
                    c.Put("q", "x", "k", depends=["y"]),
                ]
            )
        )
    assert heard == []


@spec("config.defaults", "config.set")
def test_options_have_defaults_and_can_be_set(q: Rig) -> None:
    defaults = {name: option.default for name, option in OPTIONS.items()}
    assert q.run(c.AllConfig()) == defaults
    assert q.run(c.GetConfig("heartbeat")) == 60
    assert q.run(c.GetConfig("mail-heartbeat")) == 60
    assert q.run(c.GetConfig("mail-max-concurrency")) == 0
    assert q.run(c.GetConfig("nobody-knows")) is None
    q.config("heartbeat", 30)
    assert q.run(c.GetConfig("mail-heartbeat")) == 30
    q.put("a", 0)
    assert q.pop_jobs(0)[0].expires == 30
    assert q.run(c.AllConfig()) == {**defaults, "heartbeat": 30}
    q.run(c.UnsetConfig("heartbeat"))
    assert q.run(c.GetConfig("heartbeat")) == 60


@spec("config.numbers", "fault.20")
@pytest.mark.parametrize("option", ["heartbeat", "q-heartbeat", "grace-period", "q-max-concurrency", "jobs-history"])
@pytest.mark.parametrize("value", ["soon", "", float("nan"), float("inf"), True, None, "1e999"])
def test_numeric_options_take_numbers_only(option: str, value: object) -> None:
    with pytest.raises(BadArgument, match="value"):
        c.SetConfig(option, value)  # type: ignore[arg-type]


@spec("config.numbers")
def test_a_number_may_be_written_as_text(q: Rig) -> None:
    q.config("heartbeat", "45")
    assert q.run(c.GetConfig("heartbeat")) == 45
    q.config("grace-period", "2.5")
    assert q.run(c.GetConfig("grace-period")) == 2.5


@spec("config.unknown")
def test_an_unknown_option_is_kept_as_text(q: Rig) -> None:
    q.config("colour", 5)
    assert q.run(c.GetConfig("colour")) == "5"
