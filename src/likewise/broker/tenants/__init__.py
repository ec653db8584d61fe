"""A `tenant` with its subscribers' `queues`, subscriptions, `feeds` of targets, what it is `allowed`, and its `rates`.

Its matchers know subscriptions and events by their numbers in the log (`numbered_matcher`).
"""
