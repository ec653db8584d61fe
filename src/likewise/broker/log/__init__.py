"""Tables on disk: the only package that contains SQL.

`event_log` is the seam: an append-only log with one writer and some followers. `writer` serves it with SQLite: it
brings `commits` to disk, many at once. Whoever reads or changes something is handed the `tables`, and finds here what
does it: `log_entries` (the log), `positions` (how far its followers have come), `registry_tables` (tenants,
subscribers, subscriptions, feedback), `sinks`, `deliveries` with `packed_sets` of recipients, `dead_letters`, `tokens`.
`entries` says what the log holds, `ids` makes ids. `schema` has the tables, `rows` reads their rows by their
`checksums`, `files` opens them, `commit_marker` notices lost commits, `migrations` brings older ones up to date,
`integrity` copies, verifies and compacts them.
"""
