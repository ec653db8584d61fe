"""Questions that change nothing: `questions` (what would match, and why), `backtest`
(what a subscription would have sent), `activity` (what goes on), `history` (again
from a number on), `tallies` (counts), `stored` (events by filter, a reading over time), `traces` (what became of one).
"""
