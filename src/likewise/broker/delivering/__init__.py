"""From an entry of the log to a delivery on disk.

`worker` is the thread that follows the log; `match_events` matches a stretch of it, `apply_commands` does what commands
say, `earlier_events` gives new subscriptions what is still valid. `outcome` is what that led to, stored in one commit;
`match_before_commit` does it in the event's own. `acknowledgements` brings cursors to disk, `waiting` waits.
"""
