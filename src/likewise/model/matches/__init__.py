"""Many matches: the `sequence` of one event's, the `batch` of many events' as arrays, and its `table`."""
