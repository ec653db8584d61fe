"""Progress of compiling the matching kernels, which happens once after an installation.

Before a broker listens the kernels of conditions are, in a process of its own: so a stop meanwhile is prompt. A broker
with a store from before waits for all of them; a new one compiles the rest while it runs. Commands that match compile
what they need as they go. On a terminal the seconds are counted.
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
    from likewise.broker.broker import Broker
    from likewise.broker.config import MatchingSettings
    from likewise.kernels.cache import Stage

LOOK: Final = 0.05  # seconds between looks at the process that compiles
AFTER: Final = 3.0  # seconds a command may work before it is said why it takes long
WORDS: Final = "Compiling the matching kernels, once; usually half a minute."
LATER: Final = (
    "Compiling the kernels of rankings, graph patterns and interests meanwhile; subscriptions to them wait for it."
)
SOME: Final = "Compiling the matching kernels that this needs, once; usually half a minute."


def compile_ahead(matching: MatchingSettings, notify: Callable[[str], None], stage: Stage = "all") -> bool:
    """Compile what is not compiled yet, after saying so; False if a signal stopped it.

    Nothing is to be done in profile `small`, where `compile = false` is configured, or when it was done before.

    Args:
        matching: the settings of a broker.
        notify: prints a line.
        stage: `first` is enough for a broker that compiles the rest beside itself (`compile_later`).
    """
    if matching.profile != "full" or not matching.compile:
        return True
    require("match", "the profile 'full'", or_else="choose the profile 'small'")
    from likewise.kernels.cache import is_compiled_ahead

    if is_compiled_ahead(stage=stage):
        return True
    command = [*_warm_up_command(matching), "--stage", stage]
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
def compile_meanwhile(matching: MatchingSettings, broker: Broker, notify: Callable[[str], None]) -> Iterator[None]:
    """Compile beside a broker what it can do without at first, in another process that ends with it.

    If the kernels of some kinds of subscriptions are missing, those: such subscriptions wait meanwhile. Else, where
    portable kernels are in use, all of them for this very processor, at low priority: the next start uses them.
    """
    from likewise.broker.dispatch.pending_kernels import LATER_KINDS, PendingKernels

    if matching.profile != "full" or not matching.compile or _is_native():
        yield
        return
    complete = _is_complete()
    command = [*_warm_up_command(matching), "--native" if complete else "--beside"]
    if not complete:
        notify(LATER)
        broker.pending_kernels = PendingKernels(LATER_KINDS)
    # A session of its own, as in `compile_ahead`. It prints nothing among the broker's log: a failure is tried again.
    output: Final = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True) as compiling:
        waiting = threading.Thread(target=_await_kernels, args=(compiling, broker, notify), name="likewise-kernels")
        try:
            if not complete:
                waiting.start()
            yield
        finally:
            with suppress(ProcessLookupError):
                os.killpg(compiling.pid, signal.SIGKILL)
            if not complete:
                waiting.join()


def _await_kernels(compiling: subprocess.Popen[bytes], broker: Broker, notify: Callable[[str], None]) -> None:
    """Let subscriptions go on once the process has ended, whatever came of it."""
    begun = time.monotonic()
    if compiling.wait() == 0:
        notify(f"They were compiled in {time.monotonic() - begun:.0f} s.")
    broker.pending_kernels.finish()


def _is_complete() -> bool:
    from likewise.kernels.cache import is_compiled_ahead

    return is_compiled_ahead()


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
