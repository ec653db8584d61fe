"""What a stream did so far, as a file in Prometheus' text format, written whole after each batch."""

from __future__ import annotations

from pathlib import Path

import msgspec

from likewise.lake.atomic_create import write_whole
from likewise.spark.streaming.batch_report import BatchCounts

_HELP = {
    "events": "Events read",
    "matched": "Events that met something",
    "matches": "Matches",
    "bad": "Payloads that are no event",
    "said": "What rankings and alerts said",
}


class StreamMetrics:
    """Sums since the query was started, and the last batch: its number, seconds, rate, and what is left to read.

    >>> metrics = StreamMetrics("plant")
    >>> metrics.add(BatchCounts(events=10, matches=4), batch=3, seconds=2.0, lag=7, subscriptions=1)
    >>> [line for line in metrics.text().splitlines() if not line.startswith("#")][:2]
    ['likewise_stream_events_total{tenant="plant"} 10', 'likewise_stream_matched_total{tenant="plant"} 0']
    """

    def __init__(self, tenant: str) -> None:
        self._label = '{tenant="' + tenant.replace("\\", r"\\").replace('"', r"\"") + '"}'
        self._total = BatchCounts()
        self._last: dict[str, float] = {}

    def add(self, counts: BatchCounts, *, batch: int, seconds: float, lag: int, subscriptions: int) -> None:
        """Count a batch."""
        self._total = self._total.plus(counts)
        rate = counts.events / seconds if seconds else 0.0
        self._last = {
            "batch": batch,
            "batch_seconds": seconds,
            "events_per_second": round(rate, 3),
            "lag": lag,
            "subscriptions_version": subscriptions,
        }

    def text(self) -> str:
        """Everything, one sample a line."""
        lines = []
        for name, value in msgspec.structs.asdict(self._total).items():
            metric = f"likewise_stream_{name}_total"
            lines += [f"# HELP {metric} {_HELP[name]}.", f"# TYPE {metric} counter", f"{metric}{self._label} {value}"]
        for name, value in self._last.items():
            metric = f"likewise_stream_{name}"
            lines += [f"# TYPE {metric} gauge", f"{metric}{self._label} {value:g}"]
        return "\n".join(lines) + "\n"

    def write(self, path: Path) -> None:
        """Write the file, in place of what is there."""
        write_whole(path, self.text().encode())
