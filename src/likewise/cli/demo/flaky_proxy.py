"""A line of the demo that can be lost: what is connected through it stands still until it is back."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Self

from likewise.defaults import HOST

PART = 65_536  # bytes passed on at once


class LosableLine:
    """Passes connections on to a port of this machine; `lose` cuts them and takes none until `restore`."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._lost = False
        self._open: set[socket.socket] = set()
        self._listening = socket.create_server((HOST, 0))
        self.address = f"http://{HOST}:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._take, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.lose()
        self._listening.close()

    def lose(self) -> None:
        """Cut what is connected, and take nothing."""
        self._lost = True
        for each in list(self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def restore(self) -> None:
        """Take connections again."""
        self._lost = False

    def _take(self) -> None:
        while True:
            try:
                taken, _ = self._listening.accept()
            except OSError:
                return  # the demo ends
            if self._lost:
                taken.close()
                continue
            try:
                above = socket.create_connection((HOST, self._to), timeout=5)
            except OSError:
                taken.close()
                continue
            above.settimeout(None)
            self._open |= {taken, above}
            for one, other in ((taken, above), (above, taken)):
                threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while part := one.recv(PART):
                other.sendall(part)
        for each in (one, other):
            self._open.discard(each)
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
