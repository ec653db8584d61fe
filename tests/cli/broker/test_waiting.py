"""`likewise subscribe` and brokers that come and go, as processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings
from likewise.client import Publisher
from tests.server.conftest import serving


def test_subscribe_waits_for_a_broker_in_one_line_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """It starts before the broker, gets what comes, outlives a broker that lost its memory, and ends with Ctrl-C."""
    with socket.socket() as trying:
        trying.bind(("127.0.0.1", 0))
        port = trying.getsockname()[1]
    command = [sys.executable, "-m", "likewise", "subscribe", "s: {n > 1}", "--address", f"127.0.0.1:{port}"]
    own = {**os.environ, "LIKEWISE_CONTEXTS": str(tmp_path / "none"), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=own) as waiting:
        assert waiting.stdout is not None
        assert waiting.stderr is not None
        assert waiting.stderr.readline() == f"Waiting for a broker at http://127.0.0.1:{port}. Ctrl-C ends it.\n"
        for n in (2, 3):
            with (
                Broker(None, Config(server=ServerSettings(port=port))) as broker,
                serving(broker=broker) as address,
                Publisher(address, source="roof") as out,
            ):
                while not list(broker.tenant("default").live()):
                    time.sleep(0.05)
                out.publish({"n": n})
                assert f"roof  n: {n}  1 s" in waiting.stdout.readline()
                if n == 3:
                    waiting.send_signal(signal.SIGINT)
                    assert waiting.wait(timeout=30) == 130
                    assert broker.tenant("default").subscribers == {}
        told = waiting.stderr.read()
    assert told.splitlines()[-1] == "s was temporary and has ended; nothing stays at the broker."
    assert "Traceback" not in told
    assert sum("does not answer" in line for line in told.splitlines()) <= 1


def test_publish_that_is_stopped_says_how_far_it_came(tmp_path: Path) -> None:
    """Ctrl-C between two events: the exit code is 130, and what went out is counted."""
    with Broker(None, Config(server=ServerSettings(port=0))) as broker, serving(broker=broker) as address:
        command = [sys.executable, "-m", "likewise", "publish", "--address", address]
        own = {**os.environ, "LIKEWISE_CONTEXTS": str(tmp_path / "none")}
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=own
        ) as sending:
            assert sending.stdin is not None
            sending.stdin.write("{n: 1}\n")
            sending.stdin.flush()
            while broker.store.position < 1:
                time.sleep(0.05)
            time.sleep(1)  # until the receipt is there; however late it is, nothing but the count changes
            sending.send_signal(signal.SIGINT)
            assert sending.wait(timeout=60) == 130
            assert sending.stderr is not None
            assert "published until then" in sending.stderr.read()
