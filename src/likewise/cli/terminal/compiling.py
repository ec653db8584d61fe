"""The matching kernels, compiled before a broker listens, in a process of its own: so a stop meanwhile is prompt."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Final

from likewise.errors import Unavailable

if TYPE_CHECKING:
    from likewise.broker.config import Matching

LOOK: Final = 0.05  # seconds between looks at the process that compiles
WORDS: Final = "Compiling the matching kernels, once; this takes about a minute."


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
    with _signals() as came:
        say(WORDS)
        # A session of its own: Ctrl-C in a terminal reaches this process alone, which then ends the other.
        compiling = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            while not came and compiling.poll() is None:
                time.sleep(LOOK)
        finally:
            compiling.kill()
            code = compiling.wait()
    if came:
        return False
    if code:
        raise Unavailable(f"compiling the matching kernels ended with {code}; what it printed above says why")
    return True


@contextmanager
def _signals() -> Iterator[list[int]]:
    """The signals to stop that have come; noted, not raised, so that none comes between a process and its handle."""
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)

    before = {each: signal.signal(each, note) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
