"""Promises of likewise.spark.session and failures: whatever is wrong with Spark is one line of words."""

from __future__ import annotations

import socket

import pytest

from likewise.errors import InputError, MissingDependency, Unavailable
from likewise.spark import session as connect
from likewise.spark.session import spark_error_summary, translate_spark_errors


def test_an_address_that_is_none_is_refused() -> None:
    """The form is said."""
    pytest.importorskip("grpc")
    for address in ("http://head:15002", "head", "sc://"):
        with pytest.raises(InputError, match="SPARK_REMOTE is sc://host:port"):
            connect.connect_session(address, {})


def test_a_server_that_is_not_there_is_said_at_once() -> None:
    """Not after the minutes that gRPC would try."""
    pytest.importorskip("grpc")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nobody listens there
        port = closed.getsockname()[1]
        with pytest.raises(Unavailable, match=f"no server of Spark Connect answers at 127.0.0.1:{port}"):
            connect.connect_session(f"sc://127.0.0.1:{port}", {})


def test_what_connect_needs_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the packages' names, before anything is tried."""
    monkeypatch.setattr(connect, "_is_installed", lambda module: module == "zstandard")
    with pytest.raises(MissingDependency, match=r"grpcio, grpcio-status, googleapis-common-protos.*likewise\[spark\]"):
        connect.connect_session("sc://127.0.0.1:1", {})


def test_errors_of_spark_become_ours_and_others_pass() -> None:
    """A worker's own error of the tree keeps its words; what is none of Spark's stays what it is."""
    errors = pytest.importorskip("pyspark.errors")
    traced = "Traceback (most recent call last):\n  File 'x'\nlikewise.errors.InputError: no such unit\n"
    with pytest.raises(Unavailable, match=r"^no such unit$"), translate_spark_errors():
        raise errors.PySparkException(traced)
    with pytest.raises(Unavailable, match="a worker of Spark ended in the middle"), translate_spark_errors():
        raise errors.PySparkException("org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)")
    idle = (
        "java.io.IOException: Stream closed\n\tat org.apache.spark.api.python.PythonWorkerFactory.stopWorker(P.scala:1)"
    )
    with pytest.raises(Unavailable, match="a worker of Spark ended in the middle"), translate_spark_errors():
        raise errors.PySparkException(idle)
    with pytest.raises(ZeroDivisionError), translate_spark_errors():
        raise ZeroDivisionError
    with pytest.raises(InputError), translate_spark_errors():
        raise InputError("ours")
    assert spark_error_summary("") == "Spark could not do it: it does not say why"
