"""A broker in a process of its own, on a disk that can be filled and with a clock that can be set.

    python -m tests.broker.served DATA PORT CLOCK [SECONDS [STANDING]]

The clock is the machine's, moved by the µs that the file CLOCK says. Events are kept, and known, for so many seconds,
or for ever; a step of the clock is believed after so many more, and what is over is removed twice a second then.
Everything else is as `likewise serve` has it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec

from likewise.matching.matcher import system_clock

YEARS = 10 * 365 * 24 * 3_600 * 1_000_000


class ServedProcess:
    """The same broker, on one port, across restarts."""

    def __init__(self, data: Path, clock: Path, keep_seconds: int | None = None, standing: float | None = None) -> None:
        self._data = data
        self._keep = [] if keep_seconds is None else [str(keep_seconds)]
        self._keep += [] if standing is None else [str(standing)]
        self._clock = clock
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self.set_clock(0)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def set_clock(self, by: int) -> None:
        """Let the broker's clock be off by so many µs."""
        with self._clock.open("r+b" if self._clock.exists() else "wb", buffering=0) as file:
            file.write(b"%+020d" % by)

    def start(self) -> None:
        said = [str(self._data), str(self._port), str(self._clock), *self._keep]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.broker.served", *said],
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the broker did not start; it ended with {self._process.wait()}")
        self._port = int(msgspec.json.decode(line)["port"])

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Stop it as an operator does; its exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> int:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.send_signal(how)
        code = self._process.wait(timeout=120)
        self._process.stdout.close()
        return code


class Disk:
    """A file system in a file, small enough to be filled; without the right to mount one, a plain folder."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.path, image = folder / "disk", folder / "disk.img"
        self.path.mkdir(parents=True, exist_ok=True)
        self.can_fill = False
        if os.path.ismount(self.path):
            self.can_fill = True
            return
        if not image.exists():
            with image.open("wb") as file:
                file.truncate(megabytes * 2**20)
            if not _ran("mkfs.ext4", "-q", "-F", str(image)):
                image.unlink()
                return
        self.can_fill = _ran("mount", "-o", "loop", str(image), str(self.path))

    def fill(self) -> None:
        """Take what is left, as far as anybody may."""
        with (self.path / "balloon").open("wb") as balloon:
            size = 64 * 2**20
            while size >= 4096:
                try:
                    os.posix_fallocate(balloon.fileno(), os.fstat(balloon.fileno()).st_size, size)
                except OSError:
                    size //= 2

    def make_room(self) -> None:
        (self.path / "balloon").unlink(missing_ok=True)

    def close(self) -> None:
        self.make_room()
        if self.can_fill:
            _ran("umount", "--lazy", str(self.path))


def _ran(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def main(data: Path, port: int, clock: Path, seconds: str | None = None, standing: str | None = None) -> None:
    from likewise.broker import clock as timekeeper
    from likewise.broker.broker import Broker
    from likewise.broker.clock import steady_clock
    from likewise.broker.config import Config, LoggingSettings, ServerSettings, StoreSettings
    from likewise.broker.maintenance import housekeeping
    from likewise.broker.maintenance import retention as sweeping
    from likewise.broker.telemetry.logging import log_to_stderr
    from likewise.cli.terminal.broker_process import tune_gc
    from likewise.server.http.server import serve

    kept = StoreSettings("forever" if seconds is None else f"{seconds} s")
    if seconds is not None:
        setattr(sweeping, "DEDUPLICATION_SPAN", int(seconds) * 1_000_000)  # noqa: B010 - it is not part of what it offers
    if standing is not None:
        setattr(timekeeper, "BELIEVE_AFTER_S", float(standing))  # noqa: B010 - as above
        setattr(sweeping, "DEDUPLICATION_SPAN", 1_000_000)  # noqa: B010
        setattr(housekeeping, "SWEEP_SECONDS", 0.5)  # noqa: B010
    config = Config(
        server=ServerSettings(port=port), store=kept, logging=LoggingSettings(level="critical", format="text")
    )
    log_to_stderr(config.logging)
    moved = os.open(clock, os.O_RDONLY)
    wall = lambda: system_clock() + int(os.pread(moved, 20, 0))  # noqa: E731
    with Broker(data, config, clock=wall, steady=steady_clock) as broker, tune_gc():
        serve(broker, on_ready=lambda taken: print(msgspec.json.encode({"port": taken}).decode(), flush=True))
    if not broker.ended:  # a thread that was given up may be compiling
        os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
