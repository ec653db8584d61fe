"""Retry failing background tasks: a failure is logged once and retried until it works."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final

import structlog

from likewise.backoff import backoff_s
from likewise.errors import Unavailable

_log = structlog.get_logger("likewise.upkeep")
RETRY_SECONDS: Final = (1.0, 10.0)  # the first pause between attempts, and the longest of its doublings


class RetryingTasks:
    """Runs tasks by name; `troubles` maps the failing ones to their errors.

    >>> chores = RetryingTasks(clock=iter([0.0, 0.5, 2.0]).__next__)
    >>> from structlog.testing import capture_logs
    >>> with capture_logs() as said:
    ...     chores.do("tidying", lambda: 1 / 0)
    ...     chores.do("tidying", lambda: print("too early"))
    ...     print(chores.troubles)
    ...     chores.do("tidying", lambda: None)
    {'tidying': 'ZeroDivisionError: division by zero'}
    >>> chores.troubles, chores.failed, [line["event"] for line in said][-1]
    ({}, 1, 'task_recovered')
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.troubles: dict[str, str] = {}
        self.failed = 0  # how often, in all
        self.stopping = False  # set: whoever cannot be asked any more is no trouble
        self._clock = clock
        self._again: dict[str, tuple[float, int]] = {}  # when to try again, and how often it has failed

    def __iter__(self) -> Iterator[str]:
        return (f"{name}: {why}" for name, why in list(self.troubles.items()))

    def do(self, name: str, work: Callable[[], object]) -> None:
        """Do a chore, unless it failed a short while ago."""
        now, (due, failures) = self._clock(), self._again.get(name, (0.0, 0))
        if name in self._again and now < due:
            return
        try:
            work()
        except Exception as error:
            if self.stopping and isinstance(error, Unavailable):
                return
            self.failed += 1
            self._again[name] = (now + backoff_s(failures + 1, *RETRY_SECONDS), failures + 1)
            if name not in self.troubles:
                _log.error("task_failed", chore=name, exc_info=error)
            self.troubles[name] = f"{type(error).__name__}: {error}"
            return
        if self.troubles.pop(name, None) is not None:
            del self._again[name]
            _log.info("task_recovered", chore=name)
