"""A `tenant` with its subscribers' `queues`, its subscriptions and matchers, and the `rates` it may publish at."""
