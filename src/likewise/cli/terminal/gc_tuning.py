"""An interpreter for a broker that runs for long: collections look at little."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

YOUNG: Final = 10_000  # new objects between two collections; with the default of 700 every batch has some


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
