"""Keep requested readings in a lake without Spark: a follower of the log.

`follower` is its thread; `progress` how far it has come with each tenant, and what the batch under way holds, in the
store; `rows` what a batch writes. `stream_log` copies subscriptions into the change log that streams on Spark follow.
What goes wrong there never ends matching: it is said and tried again.
"""
