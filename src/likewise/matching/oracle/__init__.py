"""The oracle: the reference `engine` for every kind, and its `alerts`."""
