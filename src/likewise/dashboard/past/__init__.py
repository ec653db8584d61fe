"""What was: counts of subscriptions, charts of an hour and a day, a reading over time with what was said about it,
stored events by saved filters and as files, and what became of one event.

`questions` asks the broker; `held` lists subscriptions with their counts; `charts`, `searching` and `tracing` are the
parts of the page; `filters` and `exporting` are plain functions.
"""
