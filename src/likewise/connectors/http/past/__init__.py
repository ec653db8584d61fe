"""What was, over HTTP: `looking_back` has counts, a reading over time, stored events by filter, and traces."""
