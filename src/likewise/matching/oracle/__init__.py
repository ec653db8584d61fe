"""The oracle: the plain `engine` for every kind, its `windows` and `saved_windows`."""
