"""Reduce the memory of an edge: few heaps of the C library, and no optional imports of libraries."""

from __future__ import annotations

import ctypes
import importlib
import sys
from contextlib import suppress

HEAPS = ((-8, 2), (-1, 2**17), (-3, 2**16))  # M_ARENA_MAX, M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of mallopt(3)
LEFT_OUT = ("rich", "greenlet", "watchfiles")  # for tracebacks in colour, for reloading: an edge has neither
WHO_ASK = ("structlog", "uvicorn")


def reduce_memory() -> None:
    """Before anything else is loaded: let the C library keep two heaps, and libraries go without what they can.

    By itself the C library keeps a heap for each thread, and the larger what was freed is, the more of it.
    """
    with suppress(OSError, AttributeError):  # another C library than GNU's
        for setting, value in HEAPS:
            ctypes.CDLL(None).mallopt(setting, value)
    absent = [name for name in LEFT_OUT if name not in sys.modules]
    for name in absent:
        sys.modules[name] = None  # type: ignore[assignment]  # what asks for it is told that there is none
    try:
        for name in WHO_ASK:
            importlib.import_module(name)
    finally:
        for name in absent:
            del sys.modules[name]
