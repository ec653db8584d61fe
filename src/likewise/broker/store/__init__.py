"""What is on disk, and the only room that speaks SQL.

`event_log` is the seam: an append-only log with one writer. `writer` serves it with SQLite; `schema` has the tables,
`rows` reads and writes them with `checksums`, `files` opens them, `watermark` notices lost commits. What they hold:
`entries` with their `bodies` and `ids`, `deliveries` with `packed_sets` of recipients, `dead_letters`, `tokens`.
"""
