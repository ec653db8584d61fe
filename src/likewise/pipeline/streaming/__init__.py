"""Streams on Spark: what a worker does with a batch of payloads, and who tells it to.

`payloads` are read into columns, `matchers` are opened by workers as they were saved for a version of the
subscriptions, and `matched_events` is what both make: one row an event, with the numbers of the subscriptions it met.
`dataframes` does so with the rows of any DataFrame; `run` is a query of our own, from `inlets` to `outlets`, whose
`checkpoint` remembers what each batch was planned to do before its tasks (`task`) run. `backtest` tallies (`tally`)
what stored events would have met. Topics of Kafka are sent to by
`kafka_outlet`, with `kafka_settings`.
"""
