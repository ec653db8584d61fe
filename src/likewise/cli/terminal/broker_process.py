"""The process of a broker, for `serve` and `edge`: signals, what it says, and garbage collection over a long run."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from likewise.cli.terminal import output

if TYPE_CHECKING:
    from likewise.broker.broker import Broker
    from likewise.broker.config import ServerSettings
    from likewise.server.mqtt.broker.listener import OpenedSocket

T = TypeVar("T", bound=msgspec.Struct)

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


def replace_given(settings: T, **options: Any) -> T:
    """Return settings with the options that were given in place of their own; one that is None was not.

    >>> from likewise.broker.config import ServerSettings
    >>> replace_given(ServerSettings(), host=None, port=1234).port
    1234
    """
    return msgspec.structs.replace(settings, **{name: value for name, value in options.items() if value is not None})


def print_listening(
    server: ServerSettings,
    port: int,
    devices: Sequence[OpenedSocket],
    facts: Mapping[str, object],
    lines: Sequence[str],
    as_json: bool,
) -> None:
    """Say that a broker listens: its addresses, and what else there is to know of it as facts or in lines."""
    address = f"{'https' if server.tls_certificate else 'http'}://{server.host}:{port}"
    if as_json:
        mqtt = {"mqtt": [each.url for each in devices]} if devices else {}
        output.print_json({"listening": address, **facts, **mqtt})
        return
    first, *rest = lines
    addresses = [f"Devices connect at {each.url}." for each in devices]
    for line in (f"Listening on {address}, {first}", *addresses, *rest):
        output.print_line(line)


def run_broker(opened: AbstractContextManager[Broker], signals: StopSignal, serve: Callable[[Broker], None]) -> None:
    """Open a broker and serve it until a signal stops it, then end the process with what it cannot wait for."""
    with opened as broker, tune_gc():
        if not signals.stop:
            serve(broker)  # which hears signals itself
        signals.starting = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signals.handle)
    if not broker.ended:  # a thread that was given up may be compiling: nothing is left that waits for it
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
