"""What was: counts of subscriptions, charts of an hour and a day, a reading over time with what was said about it,
stored events by saved filters and as files, and what became of one event.

`queries` asks the broker; `subscription_table` lists subscriptions with their counts; `charts`, `search` and `trace`
are the parts of the page; `filters` and `export` are plain functions.
"""
