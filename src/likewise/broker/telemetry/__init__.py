"""What a broker says of itself: `metrics` and `target_counters` for Prometheus, `logging` in structured lines,
`event_trace` of single events.
"""
