"""A listener that is told of each delivery, on a thread of its own."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Protocol, Self

from likewise.client.messages import ClientDelivery

_LOG = logging.getLogger("likewise.client")


class Inbox(Protocol):
    """What is listened to: a subscriber's deliveries."""

    @property
    def id(self) -> str:
        """The subscriber's name."""
        ...

    def __iter__(self) -> Iterator[ClientDelivery]:
        """The deliveries, as they come."""
        ...

    def acknowledge(self, delivery: ClientDelivery | int) -> None:
        """Settle a delivery and all before it."""
        ...

    def stop_stream(self) -> None:
        """End the iteration."""
        ...


class Listening:
    """Deliveries handed to a listener as they come, until `stop`; also as `with inbox.listen(...)`.

    What the listener returned from is acknowledged. An error it raises ends the listening and is logged; that delivery
    is not acknowledged and comes again. `stop` and `wait` raise the error, too.
    """

    def __init__(self, inbox: Inbox, listener: Callable[[ClientDelivery], object], acknowledge: bool) -> None:
        self._inbox = inbox
        self._listener = listener
        self._acknowledge = acknowledge
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=f"listener of {inbox.id}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for delivery in self._inbox:
                self._listener(delivery)
                if self._acknowledge:
                    self._inbox.acknowledge(delivery)
        except Exception as error:
            self.error = error
            _LOG.exception("listening as %s ended", self._inbox.id)

    @property
    def active(self) -> bool:
        """Whether deliveries are still handed over."""
        return self._thread.is_alive()

    def wait(self, timeout: float | None = None) -> None:
        """Wait until it ends by itself; its error is raised."""
        self._thread.join(timeout)
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        """End it, after the delivery that is under way; its error is raised."""
        self._inbox.stop_stream()
        self.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.stop()
        else:
            self._inbox.stop_stream()
