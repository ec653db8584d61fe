"""From an entry of the log to a delivery on disk.

`worker` is the thread that follows the log: it goes round the tenants in a `line`, by `turns`, and takes what waits
of each from its `backlog`. `match_events` matches a stretch of events, `apply_commands` does what commands say,
`earlier_events` gives new subscriptions what is still valid. `outcome` is what that led to, `store_outcome` the
commit that stores and shows it; `match_before_commit` has it stored in the event's own commit. `pending` is
what waits for a subscriber, `acknowledgements` brings cursors to disk.
"""
