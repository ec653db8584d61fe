"""The processes of the demo: `likewise` commands that run beside it, and are ended with it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Self

from likewise.errors import Unavailable

if TYPE_CHECKING:
    import httpx

STARTING: Final = 600.0  # seconds a process may take to start; the first start compiles the matching kernels
ENDING: Final = 15.0  # seconds a process may take to end


class DemoProcess:
    """A `likewise` command that runs beside this one; `start` starts it again when it has ended."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it. A terminal's Ctrl-C does not reach it: it is ended by us."""
        quiet = {"LIKEWISE_LOGGING_LEVEL": "warning", "LIKEWISE_LOGGING_FORMAT": "text", **os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "likewise", *self._arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            env=quiet,
        )

    @property
    def ended(self) -> int | None:
        """The exit code if it has ended, else None."""
        return self._process.poll() if self._process is not None else None

    def stop(self) -> None:
        """End it, whatever it does."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=ENDING)
        except BaseException as error:
            self._process.kill()
            self._process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def wait_until_ready(client: httpx.Client, broker: DemoProcess) -> None:
    """Wait until a broker that is starting takes events in."""
    import httpx

    deadline = time.monotonic() + STARTING
    while True:
        if broker.ended is not None:
            raise Unavailable(f"the broker ended at once, with the code {broker.ended}; try: likewise serve")
        try:
            if client.get("/readyz").is_success:
                return
        except httpx.HTTPError as error:
            if time.monotonic() > deadline:
                raise Unavailable(f"the broker did not start within {STARTING:.0f} s") from error
        time.sleep(0.2)
