"""Progress of compiling the matching kernels, which happens once after an installation.

Before a broker listens all of them are, in a process of its own: so a stop meanwhile is prompt. Commands that match
compile what they need as they go. On a terminal the seconds are counted.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from likewise.cli.terminal import output
from likewise.errors import Unavailable
from likewise.extras import require

if TYPE_CHECKING:
    from likewise.broker.config import MatchingSettings

LOOK: Final = 0.05  # seconds between looks at the process that compiles
AFTER: Final = 3.0  # seconds a command may work before it is said why it takes long
WORDS: Final = "Compiling the matching kernels, once; usually a minute or two."
SOME: Final = "Compiling the matching kernels that this needs, once; usually half a minute."


def compile_ahead(matching: MatchingSettings, notify: Callable[[str], None]) -> bool:
    """Compile what is not compiled yet, after saying so; False if a signal stopped it.

    Nothing is to be done in profile `small`, where `compile = false` is configured, or when it was done before.
    """
    if matching.profile != "full" or not matching.compile:
        return True
    require("match", "the profile 'full'", or_else="choose the profile 'small'")
    from likewise.kernels.cache import is_compiled_ahead

    if is_compiled_ahead():
        return True
    command = _warm_up_command(matching)
    with _stop_signals() as received:
        notify(WORDS)
        # A session of its own: Ctrl-C in a terminal reaches this process alone, which then ends the other.
        compiling = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            with _elapsed_seconds() as count:
                while not received and compiling.poll() is None:
                    time.sleep(LOOK)
                    count()
        finally:
            with suppress(ProcessLookupError):  # nobody is left of them
                os.killpg(compiling.pid, signal.SIGKILL)  # it has another beside it
            code = compiling.wait()
    if received:
        return False
    if code:
        raise Unavailable(f"compiling the matching kernels ended with {code}; what it printed above says why")
    return True


@contextmanager
def compile_natively(matching: MatchingSettings) -> Iterator[None]:
    """Compile for this very processor meanwhile, at low priority, where portable kernels are in use.

    The next start uses what was compiled; a process that ends before the others goes on there.
    """
    if matching.profile != "full" or not matching.compile or _is_native():
        yield
        return
    command = [*_warm_up_command(matching), "--native"]
    # A session of its own, as in `compile_ahead`. It prints nothing among the broker's log: a failure is tried again.
    output: Final = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True) as compiling:
        try:
            yield
        finally:
            with suppress(ProcessLookupError):
                os.killpg(compiling.pid, signal.SIGKILL)


def _is_native() -> bool:
    from likewise.kernels.cache import is_compiled_ahead

    return is_compiled_ahead(native=True)


def _warm_up_command(matching: MatchingSettings) -> list[str]:
    command = [sys.executable, "-m", "likewise.matching.warm_up"]
    for name, value in (("--space", matching.space), ("--measure", matching.measure)):
        command += [] if value is None else [name, value]
    return command


@contextmanager
def report_compilation() -> Iterator[None]:
    """Say that kernels are compiled, if what is done here takes long and they are."""
    done = threading.Event()
    reporter = threading.Thread(target=_print_when_compiling, args=(done,), name="likewise-patience", daemon=True)
    reporter.start()
    try:
        yield
    finally:
        done.set()
        reporter.join()


def _print_when_compiling(done: threading.Event) -> None:
    if done.wait(AFTER) or "numba" not in sys.modules:
        return
    with _compilation_event() as begun, _elapsed_seconds() as count:
        notified = False
        while not done.wait(LOOK):
            if begun.is_set() and not notified:
                output.print_note(SOME)
                notified = True
            if notified:
                count()


@contextmanager
def _compilation_event() -> Iterator[threading.Event]:
    """Yield an event that is set when numba begins to compile, in any thread. Reading numba's cache does not set it."""
    events: Any = importlib.import_module("numba.core.event")
    begun = threading.Event()

    class Noticing(events.Listener):  # type: ignore[misc]
        """Told by numba."""

        def on_start(self, event: object) -> None:
            begun.set()

        def on_end(self, event: object) -> None:
            """Ignore the end of a compilation."""

    listener = Noticing()
    events.register("numba:compile", listener)
    try:
        yield begun
    finally:
        events.unregister("numba:compile", listener)


@contextmanager
def _elapsed_seconds() -> Iterator[Callable[[], None]]:
    """Yield a function that shows the elapsed seconds on a terminal; the line is cleared at the end."""
    begun, shown, terminal = time.monotonic(), 0, sys.stderr.isatty()

    def count() -> None:
        nonlocal shown
        passed = int(time.monotonic() - begun)
        if terminal and passed > shown:
            shown = passed
            sys.stderr.write(f"\r{passed} s")
            sys.stderr.flush()

    try:
        yield count
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


@contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """Yield the stop signals received. They are recorded, not raised, so that none interrupts starting a process."""
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)

    before = {each: signal.signal(each, note) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
