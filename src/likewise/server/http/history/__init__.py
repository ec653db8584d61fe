"""What was, over HTTP: `queries` has counts, a reading over time, stored events by filter, and traces."""
