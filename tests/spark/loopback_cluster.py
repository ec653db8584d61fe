"""A standalone cluster of Spark on loopback: a master, two workers and a server of Spark Connect, for tests."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

from likewise.spark.session import java_home

PATIENCE = 300.0  # seconds until a process must be ready, on a machine that does much else


def free_port() -> int:
    """A port of loopback that nobody uses now."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def spark_home() -> Path:
    """Where PySpark's own jars and scripts lie."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


class LoopbackCluster:
    """A cluster for the time of a block; it ends the processes that it started, and no others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.master = f"spark://127.0.0.1:{free_port()}"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> LoopbackCluster:
        port = self.master.rpartition(":")[2]
        self._start(
            "master",
            "org.apache.spark.deploy.master.Master",
            "--host",
            "127.0.0.1",
            "--port",
            port,
            "--webui-port",
            str(free_port()),
        )
        self._wait("master", "Starting Spark master at")
        for number in (1, 2):
            name = f"worker{number}"
            self._start(
                name,
                "org.apache.spark.deploy.worker.Worker",
                "--host",
                "127.0.0.1",
                "--cores",
                "1",
                "--memory",
                "1g",
                "--work-dir",
                str(self.folder / name),
                "--webui-port",
                str(free_port()),
                self.master,
            )
            self._wait(name, "Successfully registered with master")
        return self

    def connect(self) -> str:
        """Start a server of Spark Connect on the cluster; its address."""
        port = free_port()
        self._start(
            "connect",
            "org.apache.spark.deploy.SparkSubmit",
            "--master",
            self.master,
            "--class",
            "org.apache.spark.sql.connect.service.SparkConnectServer",
            "--name",
            "connect",
            "--driver-memory",
            "512m",
            "--conf",
            f"spark.connect.grpc.binding.port={port}",
            "--conf",
            "spark.connect.grpc.binding.address=127.0.0.1",
            "--conf",
            "spark.ui.enabled=false",
            "spark-internal",
        )
        self._wait("connect", lambda: _answers(port))
        return f"sc://127.0.0.1:{port}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self.processes.values()):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in self.processes.values():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def environment(self) -> dict[str, str]:
        """What all of its processes, and drivers beside it, see."""
        return os.environ | {
            "JAVA_HOME": str(java_home()),
            "SPARK_HOME": str(spark_home()),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder / "scratch"),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_MEMORY": "512m",
            "SPARK_CONF_DIR": str(self._settings()),
        }

    def _settings(self) -> Path:
        folder = self.folder / "conf"
        if not folder.is_dir():
            folder.mkdir(parents=True)
            (folder / "log4j2.properties").write_text(
                "rootLogger.level = info\nrootLogger.appenderRef.stderr.ref = console\n"
                "appender.console.type = Console\nappender.console.name = console\n"
                "appender.console.target = SYSTEM_ERR\n"
                "appender.console.layout.type = PatternLayout\nappender.console.layout.pattern = %p %c{1}: %m%n\n"
            )
            (folder / "spark-defaults.conf").write_text("spark.executor.memory 512m\nspark.python.worker.reuse true\n")
        return folder

    def _start(self, name: str, *command: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [str(spark_home() / "bin" / "spark-class"), *command],
                env=self.environment(),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _wait(self, name: str, ready: str | Callable[[], bool]) -> None:
        log, began = self.folder / f"{name}.log", time.monotonic()
        while time.monotonic() - began < PATIENCE:
            if re.search(ready, log.read_text(errors="replace")) if isinstance(ready, str) else ready():
                return
            if self.processes[name].poll() is not None:
                break
            time.sleep(0.2)
        raise SystemExit(f"Spark's {name} did not start; see {log}")


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
