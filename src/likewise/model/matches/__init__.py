"""Collections of matches: the lazy `sequence` of one event, the `batch` of many events as arrays."""
