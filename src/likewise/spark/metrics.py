"""Write the progress of Spark's streaming queries as a file in Prometheus' text format."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from likewise.extras import require
from likewise.lake.atomic_create import write_whole
from likewise.spark.match import METRICS

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryListener

_PREFIX: Final = "likewise_stream"
_COUNTERS: Final = {
    "rows": "Rows read",
    "returned": "Rows that `match` returned, or events that `alerts` read",
    "malformed": "Payloads that are no event",
}
_GAUGES: Final = {
    "active": "Whether the query runs",
    "batch": "Number of the last batch",
    "batch_seconds": "Seconds of the last batch",
    "rows_per_second": "Rows a second of the last batch",
    "lag": "Offsets of Kafka that are not read yet",
    "state_rows": "Values in the state store",
    "state_bytes": "Memory of the state store",
}


def metrics_listener(path: str | Path) -> StreamingQueryListener:
    """Return a listener for `spark.streams.addListener` that writes a file after each batch, whole.

    Each sample has the label `query`: the query's name, else its id. A file of this form is collected by Prometheus'
    node exporter.

    Args:
        path: File that is written, in place of what is there.
    """
    require("spark", "Spark")
    from pyspark.sql.streaming.listener import StreamingQueryListener

    samples = QuerySamples()
    target = Path(path).absolute()
    names: dict[str, str] = {}

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None:
            names[str(event.runId)] = name = event.name or str(event.id)
            samples.set(name, {"active": 1})
            write_whole(target, samples.text().encode())

        def onQueryProgress(self, event: Any) -> None:
            samples.add_progress(event.progress)
            write_whole(target, samples.text().encode())

        def onQueryIdle(self, event: Any) -> None:
            pass

        def onQueryTerminated(self, event: Any) -> None:
            samples.set(names.pop(str(event.runId), str(event.id)), {"active": 0})
            write_whole(target, samples.text().encode())

    return Listener()


class QuerySamples:
    """Sums and last values of queries.

    >>> samples = QuerySamples()
    >>> samples.set("plant", {"active": 1})
    >>> samples.text().splitlines()[-1]
    'likewise_stream_active{query="plant"} 1'
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: dict[str, dict[str, float]] = {}
        self._last: dict[str, dict[str, float]] = {}

    def set(self, query: str, values: dict[str, float]) -> None:
        """Set gauges of a query."""
        with self._lock:
            self._totals.setdefault(query, dict.fromkeys(_COUNTERS, 0))
            self._last.setdefault(query, {}).update(values)

    def add_progress(self, progress: Any) -> None:
        """Count a batch, as Spark's `StreamingQueryProgress` tells of it."""
        query = progress.name or str(progress.id)
        lags = [float(source.metrics["maxOffsetsBehindLatest"]) for source in progress.sources if _has_lag(source)]
        values = {
            "active": 1,
            "batch": progress.batchId,
            "batch_seconds": progress.batchDuration / 1000,
            "rows_per_second": round(progress.processedRowsPerSecond, 3),
            "state_rows": sum(each.numRowsTotal for each in progress.stateOperators),
            "state_bytes": sum(each.memoryUsedBytes for each in progress.stateOperators),
        }
        self.set(query, values | ({"lag": max(lags)} if lags else {}))
        observed = progress.observedMetrics.get(METRICS)
        with self._lock:
            totals = self._totals[query]
            totals["rows"] += progress.numInputRows
            if observed is not None:
                for name in ("returned", "malformed"):
                    totals[name] += observed[name] or 0

    def text(self) -> str:
        """Return everything, one sample a line."""
        lines = []
        with self._lock:
            for kind, names, values in (("counter", _COUNTERS, self._totals), ("gauge", _GAUGES, self._last)):
                for name, meaning in names.items():
                    metric = f"{_PREFIX}_{name}" + ("_total" if kind == "counter" else "")
                    rows = [(query, each[name]) for query, each in sorted(values.items()) if name in each]
                    if rows:
                        lines += [f"# HELP {metric} {meaning}.", f"# TYPE {metric} {kind}"]
                    lines += [f'{metric}{{query="{_escaped(query)}"}} {value:.15g}' for query, value in rows]
        return "\n".join(lines) + "\n"


def _has_lag(source: Any) -> bool:
    return bool(source.metrics) and "maxOffsetsBehindLatest" in source.metrics


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
