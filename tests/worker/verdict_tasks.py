"""Tasks that raise, for processes to import."""

from __future__ import annotations

from stanchion import App, Cancel, Fail, Retry, Snooze
from stanchion.worker.outcome import raised

app = App("sqlite://")

ERRORS: dict[str, BaseException] = {
    "retry": Retry(delay=1000.0),
    "snooze": Snooze(1000.0),
    "fail": Fail("no", group="mine"),
    "cancel": Cancel(),
    "bad": ValueError("bad"),
    "gone": FileNotFoundError("gone"),
}


@app.task(fail_on=ValueError, ignore=FileNotFoundError)
def raising(name: str) -> None:
    raise ERRORS[name]


__all__ = ["ERRORS", "app", "raised", "raising"]
