"""The history of events: counts, charts, stored events by filter, files of them, and the trace of one event.

`subscription_table` lists subscriptions with their counts; `charts` and `trace` are the parts of the page that `panel`
puts together.
"""
