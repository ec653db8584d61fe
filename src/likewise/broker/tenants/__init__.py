"""A `tenant` with its subscribers' `queues`, its subscriptions, the `feeds` of its targets, what it is `allowed`, and its `rates` of publishing.

Its matchers know subscriptions and events by their numbers in the log (`numbered_matcher`).
"""
