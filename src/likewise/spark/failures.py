"""What Spark says when a job fails, in one line: the error of a worker, or what the JVM or the server complains of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from likewise.errors import LikewiseError, Unavailable

_RAISED: Final = re.compile(r"^(?P<kind>(?:[a-z_]\w*\.)*[A-Z]\w*): (?P<said>.*)$")
_CLASS: Final = re.compile(r"^\[[A-Z_.0-9]+\] ")
_CALLED: Final = "An error occurred while calling"  # what Py4J begins with, and says nothing by
_WORKER_GONE: Final = (  # one at work, and one that waited for more
    "Python worker exited unexpectedly",
    "org.apache.spark.api.python.PythonWorkerFactory.stopWorker",
)
_LONGEST: Final = 600
_GUIDE: Final = "docs/guides/spark-cluster.md"


@contextmanager
def spark_words() -> Iterator[None]:
    """Whatever Spark raises in the block is raised as one line of words; our own errors pass."""
    try:
        yield
    except LikewiseError:
        raise
    except Exception as error:
        if not _is_sparks(error):
            raise
        raise Unavailable(said_by_spark(str(error))) from error


def said_by_spark(text: str) -> str:
    """The line that matters of what Spark says about a failed job.

    >>> said_by_spark("Oh: Traceback (most recent call last):\\n  File ...\\nValueError: no such thing\\n\\tat org")
    'a worker of Spark failed: ValueError: no such thing'
    >>> said_by_spark("Traceback (most recent call last):\\nModuleNotFoundError: No module named 'likewise'")
    "Spark's workers do not have Likewise: install it there in the same version (docs/guides/spark-cluster.md)"
    >>> said_by_spark("An error occurred while calling o76.collect.\\n: org.apache.spark.SparkException: no master")
    'Spark could not do it: org.apache.spark.SparkException: no master'
    """
    _, traced, rest = text.partition("Traceback (most recent call last)")
    raised = next((found for line in rest.splitlines() if (found := _RAISED.match(line))), None)
    if traced and raised is not None:
        kind, said = raised["kind"], raised["said"]
        if said.startswith("No module named 'likewise"):
            return f"Spark's workers do not have Likewise: install it there in the same version ({_GUIDE})"
        if kind.startswith("likewise.errors."):
            return said[:_LONGEST]
        return f"a worker of Spark failed: {kind}: {said}"[:_LONGEST]
    if any(said in text for said in _WORKER_GONE):
        return "a worker of Spark ended in the middle: it was killed, or memory ran out; try again, with fewer at once"
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(_CALLED)]
    first = _CLASS.sub("", lines[0].removeprefix(": ")) if lines else "it does not say why"
    return f"Spark could not do it: {first}"[:_LONGEST]


def _is_sparks(error: Exception) -> bool:
    """Whether an error comes from PySpark, from Py4J below it, or from gRPC."""
    return any(kind.__module__.partition(".")[0] in ("pyspark", "py4j", "grpc") for kind in type(error).__mro__)
