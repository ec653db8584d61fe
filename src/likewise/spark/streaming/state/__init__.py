"""State on Spark: rankings and alerts, whose answers depend on what came before.

The state of a ranking or a digest is one key, that of any other alert is split by the keys that its events have
(`paths`). The tasks that read a batch find which events move which key (`shuffle`, `fed_events`). In a query of
Structured Streaming keys are put into buckets: rows on their way to them (`bucketing`), and values of Spark's state
store (`buckets`).
"""
