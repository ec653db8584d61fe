"""Enrichment: annotations of a source, a model, a topic or an attribute, applied to events before matching.

`annotation` is one row, `table` all rows of one version, `rows` reads and writes them as CSV, `watched_file` follows a
file that changes, `corrections` is what people said once, `sssom` their table. What a row does to an event is
matching's, since keys may be relaxed.
"""
