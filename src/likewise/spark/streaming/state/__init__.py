"""State on Spark: rankings and alerts, whose answers depend on what came before.

The state of a subscription lies in shards, folders of the checkpoint: a ranking and a digest wholly in one, any other
alert by the keys that its events have (`paths`). The tasks that read a batch find which events move which shard
(`shuffle`) and leave them for it (`fed_events`); then a task for each shard takes up the state of the batch before, is
fed in the order of event time, partition and offset, and keeps what came of it (`shard`, `saved_shard`). The driver
says which shards run, and which folders count (`shards`).

In a query of Structured Streaming the same shards are buckets: rows on their way to them (`bucketing`), and values of
Spark's state store (`buckets`).
"""
