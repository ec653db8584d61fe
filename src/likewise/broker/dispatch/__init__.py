"""From an entry of the log to a delivery on disk.

`matching_loop` is the thread that follows the log: it goes round the tenants in a `tenant_queue`, by
`deficit_round_robin`, and takes what waits of each from its `backlog`. `match_events` matches a stretch of events,
`commands` does what commands say, `initial_matches` gives new subscriptions what is still valid. `commit_batch` is what
that led to, `commit_writer` the commit that stores and shows it; `match_before_commit` has it stored in the event's own
commit. `pending_kernels` lets subscriptions wait for kernels that are compiled meanwhile. `pending_deliveries` is what
waits for a subscriber, `acknowledgements` brings cursors to disk.
"""
