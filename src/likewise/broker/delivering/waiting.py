"""Waiting for what the broker's threads tell later."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

from likewise.broker.store.event_log import Done


def wait_for(start: Callable[[Done], None]) -> object:
    """What is told to the `done` that `start` is given; an error is raised.

    >>> wait_for(lambda done: done(7))
    7
    """
    answer: Future[object] = Future()
    start(answer.set_result)
    found = answer.result()
    if isinstance(found, BaseException):
        raise found
    return found


def only(results: list[object]) -> object:
    """The result of a single command."""
    return results[0]


def first_error(results: list[object]) -> object:
    """The first error among the results, else all of them."""
    return next((result for result in results if isinstance(result, BaseException)), results)
