"""What a broker says of itself: `metrics` for Prometheus, `logging` in structured lines, `event_trace` of single
events.
"""
