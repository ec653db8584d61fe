"""A real broker of Kafka in KRaft mode on loopback, from jars that Maven brings and a file of checksums pins."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType

from likewise.spark.session import java_home

HERE = Path(__file__).parent
PATIENCE = 300.0  # seconds until it must answer, on a machine that does much else
CLUSTER = "bGlrZXdpc2UtdGVzdHMtMQ"


def jars(folder: Path, named: Path = HERE) -> Path:
    """The folder of the jars that a pom names, brought by Maven once; one that is not what was pinned is refused."""
    place = folder / "jars"
    pinned = {line.split()[1]: line.split()[0] for line in (named / "jars.sha256").read_text().splitlines()}
    if not place.is_dir() or {path.name for path in place.glob("*.jar")} != pinned.keys():
        if shutil.which("mvn") is None:
            raise SystemExit("make test-kafka needs Maven (mvn) to bring jars")
        shutil.rmtree(place, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(named / "pom.xml", folder / "pom.xml")
        subprocess.run(
            ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={place}"],
            cwd=folder,
            check=True,
            timeout=1800,
        )
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in place.glob("*.jar")}
    if found != pinned:
        other = sorted(name for name in found.keys() | pinned.keys() if found.get(name) != pinned.get(name))
        raise SystemExit(f"these jars are not what {named / 'jars.sha256'} pins: {', '.join(other)}")
    return place


def _free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


class RealKafka:
    """A broker that can be killed and started again on the same log."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jars = jars(folder)
        self.port, controller = _free_port(), _free_port()
        self.servers = f"127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        data = folder / f"log-{self.port}"
        self.settings = folder / "server.properties"
        self.settings.write_text(
            "process.roles=broker,controller\nnode.id=1\nauto.create.topics.enable=false\n"
            f"listeners=PLAINTEXT://{self.servers},CONTROLLER://127.0.0.1:{controller}\n"
            f"advertised.listeners=PLAINTEXT://{self.servers}\ncontroller.listener.names=CONTROLLER\n"
            f"controller.quorum.bootstrap.servers=127.0.0.1:{controller}\nlog.dirs={data}\n"
            "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT\n"
            "offsets.topic.replication.factor=1\ntransaction.state.log.replication.factor=1\n"
            "transaction.state.log.min.isr=1\n"
        )
        self._java(
            "format", "kafka.tools.StorageTool", "format", "--standalone", "-t", CLUSTER, "-c", str(self.settings)
        ).wait(PATIENCE)

    def __enter__(self) -> RealKafka:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def start(self) -> float:
        """Start it; how long it took until it answered."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        began = time.monotonic()
        self.process = self._java("server", "kafka.Kafka", str(self.settings))
        admin = AdminClient({"bootstrap.servers": self.servers, "log_level": 0})
        while time.monotonic() - began < PATIENCE:
            if self.process.poll() is not None:
                break
            try:
                admin.list_topics(timeout=2)
                return time.monotonic() - began
            except KafkaException:
                time.sleep(0.2)
        raise SystemExit(f"Kafka did not start; see {self.folder / 'server.log'}")

    def kill(self) -> None:
        """End it as a power cut does."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def create(self, topic: str, partitions: int) -> None:
        """A topic that is not there yet."""
        from confluent_kafka.admin import AdminClient
        from confluent_kafka.cimpl import NewTopic

        admin = AdminClient({"bootstrap.servers": self.servers})  # it must outlive what it was asked
        admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(PATIENCE)

    def _java(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        java = str(java_home() / "bin" / "java")
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [java, "-Xmx512m", "-XX:+UseSerialGC", "-cp", f"{self.jars}/*", *command],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
