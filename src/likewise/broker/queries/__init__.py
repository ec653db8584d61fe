"""Questions that change nothing: `queries` (what would match, and why), `backtest` (what a subscription would have
sent), `activity` (what goes on), `history` (again from a number on), `counts` (counts), `stored_events` (events by
filter, a reading over time), `traces` (what became of one).
"""
