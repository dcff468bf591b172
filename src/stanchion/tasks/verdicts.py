"""What a task's code may raise to say what is to become of its job, and what its options say of other exceptions."""

from __future__ import annotations

from typing import NamedTuple

Kinds = type[BaseException] | tuple[type[BaseException], ...]


class Verdict(Exception):
    """The job's code has decided: see Retry, Snooze, Fail, Cancel."""


class Retry(Verdict):
    """Try the job again, at the cost of one retry, after ``delay`` seconds; without a delay, after the task's backoff."""

    def __init__(self, reason: str = "", *, delay: float | None = None) -> None:
        super().__init__(reason or "the job asked to be tried again")
        self.delay = delay


class Snooze(Verdict):
    """Put the job off for ``delay`` seconds, at no cost: it keeps its retries."""

    def __init__(self, delay: float) -> None:
        super().__init__(f"put off for {delay} s")
        self.delay = delay


class Fail(Verdict):
    """Fail the job now, whatever retries it has; without a group, in ``<queue>-Fail``."""

    def __init__(self, reason: str, *, group: str | None = None) -> None:
        super().__init__(reason)
        self.group = group


class Cancel(Verdict):
    """The job is not needed any more: it goes, with every trace."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason or "the job asked to be canceled")


class Policy(NamedTuple):
    """What exceptions mean that are no verdict: ignored ones count as done; those to fail on, or not to retry on, fail at once."""

    retry_on: Kinds = BaseException
    fail_on: Kinds = ()
    ignore: Kinds = ()

    def ignores(self, error: BaseException) -> bool:
        """Is the job done in spite of it?"""
        return isinstance(error, self.ignore)

    def fails(self, error: BaseException) -> bool:
        """Is there no use in trying again?"""
        return isinstance(error, self.fail_on) or not isinstance(error, self.retry_on)
