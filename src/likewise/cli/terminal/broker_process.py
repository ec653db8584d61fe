"""The process of a broker, for `serve` and `edge`: stop signals, and garbage collection over a long run."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

# New objects between two collections; with the default of 700, every batch of events would start some.
YOUNG: Final = 10_000


@contextmanager
def tune_gc() -> Iterator[None]:
    """Tune garbage collection for a long run, after everything is loaded: no collection visits what exists by then.

    A full collection would stop every thread while it looks at some hundred thousand objects that never go.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 10, 10)
    try:
        yield
    finally:
        gc.unfreeze()


class StopRequested(BaseException):
    """A signal stops the broker while it starts."""


class StopSignal:
    """The state of SIGINT and SIGTERM: whether one came, and whether the broker still starts."""

    def __init__(self) -> None:
        self.stop = False
        self.starting = True

    def handle(self, number: int, frame: object) -> None:
        """Record a signal; raise `StopRequested` while the broker starts, because nothing has to be finished then."""
        self.stop = True
        if self.starting:
            raise StopRequested


@contextmanager
def handle_stop_signals() -> Iterator[StopSignal]:
    """Handle signals from the first moment on, so that loading, compiling and replaying can be interrupted."""
    signals, numbers = StopSignal(), (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, signals.handle) for number in numbers]
    try:
        with suppress(StopRequested):
            yield signals
    finally:
        for number, earlier in zip(numbers, before, strict=True):
            signal.signal(number, earlier)
