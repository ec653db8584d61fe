"""Streams on Spark: what a worker does with a batch of payloads, and who tells it to.

`payloads` are read into columns, `matchers` are opened by workers as they were saved for a version of the
subscriptions, and `matched_events` is what both make: one row an event, with the numbers of the subscriptions it met.
`dataframes` does so with the rows of any DataFrame, `batch_pins` says what a micro-batch of Structured Streaming sees,
and `lake_sink` writes what is found in Spark's tasks; `run` is a query of our own, from `sources` to a lake or a topic,
whose `checkpoint` remembers the plan of each batch before its tasks (`task`) run. `backtest` tallies (`counts`) what
stored events would have met. Both run orders as `tasks` of one job. Payloads that are no plain JSON are read by
`deserialisers`. Topics of Kafka are sent to by `kafka_sink`, with `kafka_settings`. Where a change log lies in an
object store, machines have `matcher_copies`. Rankings and alerts have a `state` by shards. `metrics` is what a stream
did, for Prometheus; `overlap` looks that what is written lies apart from what is read.
"""
