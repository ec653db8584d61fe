"""Read-only queries, which change nothing and consume nothing.

`dry_run` tells what would match and why, `backtest` what a subscription would have sent, `traces` why an event was or
was not delivered, `match_reasons` and `select` what is added to deliveries, `stored_events`, `activity`, `counts` and
`replay` what is stored, `alert_states` how alerts are.
"""
