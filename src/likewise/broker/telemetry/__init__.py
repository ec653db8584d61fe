"""Telemetry: what a broker reports about itself.

`metrics` are for Prometheus, `workers` shows the worker pool, `event_trace` and `logging` write structured log lines.
"""
