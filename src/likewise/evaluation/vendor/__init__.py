"""The project's own `benchmark`: phrases against vendors' names.

`experiment` runs it with `yardsticks`, `ablation` leaves out one part at a time, `feedback_curve` adds judgements.
"""
