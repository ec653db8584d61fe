"""The matching kernels, compiled before a broker listens, in a process of its own: so a stop meanwhile is prompt."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from likewise.errors import Unavailable

if TYPE_CHECKING:
    from likewise.broker.config import Matching

WORDS = "Compiling the matching kernels, once; this takes about a minute."


class _Stopped(Exception):
    """A signal asked for the end."""


def compile_ahead(matching: Matching, say: Callable[[str], None]) -> bool:
    """Compile what is not compiled yet, after saying so; False if a signal stopped it.

    Nothing is to be done in profile `small`, where `compile = false` is configured, or when it was done before.
    """
    if matching.profile != "full" or not matching.compile:
        return True
    from likewise.kernels.compiled_ahead import is_compiled_ahead

    if is_compiled_ahead():
        return True
    command = [sys.executable, "-m", "likewise.matching.warm_up"]
    for name, value in (("--space", matching.space), ("--measure", matching.measure)):
        command += [] if value is None else [name, value]
    try:
        with _stopped_by_signals():
            say(WORDS)
            # A session of its own: Ctrl-C in a terminal reaches this process alone, which then ends the other.
            compiling = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
            try:
                code = compiling.wait()
            finally:
                compiling.kill()
                compiling.wait()
    except _Stopped:
        return False
    if code:
        raise Unavailable(f"compiling the matching kernels ended with {code}; what it printed above says why")
    return True


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise _Stopped

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
