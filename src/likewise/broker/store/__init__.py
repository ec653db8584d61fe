"""What is on disk, and the only room that speaks SQL.

`event_log` is the seam: an append-only log with one writer and some followers. `writer` serves it with SQLite: it
brings `commits` to disk, many at once. Whoever reads or changes something is handed the `tables`, and finds here what
does it: `log_entries` (the log), `positions` (how far its followers have come), `holdings` (tenants, subscribers,
subscriptions, feedback), `targets`, `deliveries` with `packed_sets` of recipients, `dead_letters`, `tokens`. `entries`
says what the log holds, `ids` makes ids. `schema` has the tables, `rows` reads their rows by their `checksums`,
`files` opens them, `watermark` notices lost commits, `migrations` brings older ones up to date, `care` copies,
verifies and compacts them.
"""
