"""Likewise for who writes PySpark: subscriptions for the events of a DataFrame, batch or streaming.

`match` and `matches` serve subscriptions that look at one event, `alerts` those with a state: alerts and rankings.
`columns` takes columns by meaning. `to_lake` writes results, each batch once; `metrics_listener` writes what queries
did, for Prometheus.
"""

from likewise.spark.alerts import alerts
from likewise.spark.columns import columns
from likewise.spark.lake import to_lake
from likewise.spark.match import match, matches
from likewise.spark.metrics import metrics_listener

__all__ = ["alerts", "columns", "match", "matches", "metrics_listener", "to_lake"]
