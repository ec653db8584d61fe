"""Workers of other machines, as tests start them, and a line that can be cut."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from likewise.broker.config import Config, MatchingSettings, ServerSettings, WorkerSettings
from likewise.broker.pool.listener import WorkerListener
from tests.broker.pool.interleavings import Architecture, Teller
from tests.server.test_tls import make_certificate

TOKEN = "a token that is long enough"


def listening(
    folder: Path,
    architecture: Architecture = "replicated",
    workers: int = 2,
    host: str = "127.0.0.1",
    names: str = "DNS:localhost,IP:127.0.0.1",
) -> Config:
    """The configuration of a broker whose workers are on other machines."""
    certificate, key = make_certificate(folder, "broker", names)
    (folder / "token").write_text(TOKEN)
    return Config(
        matching=MatchingSettings(workers=workers, architecture=architecture),
        workers=WorkerSettings(listen=f"{host}:0", token_file=str(folder / "token")),
        server=ServerSettings(tls_certificate=str(certificate), tls_key=str(key)),
    )


def listener_of(teller: Teller) -> WorkerListener:
    """Where the workers of a broker connect."""
    assert teller.broker.topology is not None
    listener = teller.broker.topology.pool._listener
    assert listener is not None
    return listener


@contextlib.contextmanager
def machine(
    folder: Path,
    port: int,
    *,
    processes: int = 1,
    token: str = "token",
    within: tuple[str, ...] = (),
    host: str = "localhost",
) -> Iterator[subprocess.Popen[bytes]]:
    """A machine that offers workers, with its log in `machine.log`; `within` comes before the command."""
    command = [*within, sys.executable, "-m", "likewise", "worker", "--connect", f"tls://{host}:{port}"]
    command += ["--token-file", str(folder / token), "--authority", str(folder / "broker.pem")]
    with (folder / "machine.log").open("ab") as log:
        process = subprocess.Popen([*command, "--processes", str(processes)], stderr=log, stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class CutLine:
    """A line to a port of this machine that can be cut: connections break, or nothing comes through any more."""

    def __init__(self, port: int) -> None:
        self.silent = False  # nothing comes through, and nobody says so
        self._target = port
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._guard = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                one, _ = self._door.accept()
            except OSError:
                return
            try:
                other = socket.create_connection(("127.0.0.1", self._target), 5.0)
            except OSError:
                one.close()
                continue
            with self._guard:
                self._pairs.append((one, other))
            threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        to = {one: other, other: one}
        with selectors.DefaultSelector() as ready, one, other:
            for each in to:
                ready.register(each, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select(0.2):
                    if self.silent:
                        time.sleep(0.05)
                        continue
                    assert isinstance(key.fileobj, socket.socket)
                    try:
                        data = key.fileobj.recv(65_536)
                        if not data:
                            return
                        to[key.fileobj].sendall(data)
                    except OSError:
                        return

    def cut(self) -> int:
        """Break every connection; how many there were."""
        with self._guard:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for each in pair:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
        return len(pairs)

    def close(self) -> None:
        """Break every connection, and let nobody connect."""
        self._door.close()
        self.cut()


def kill_remote(teller: Teller, number: int, with_signal: int = signal.SIGKILL) -> None:
    """Send a signal to the process of a worker, which is on this machine after all."""
    assert teller.broker.topology is not None
    os.kill(teller.broker.topology.pool.workers[number].pid, with_signal)
