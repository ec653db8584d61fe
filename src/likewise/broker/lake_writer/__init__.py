"""Wanted readings kept for good, without Spark: a follower of the log that writes the same lake as a stream does.

`follower` is its thread; `progress` how far it has come with each tenant, and what the batch under way holds, in the
store; `rows` what a batch writes. `stream_log` copies subscriptions into the change log that streams on Spark follow.
What goes wrong there never ends matching: it is said and tried again.
"""
