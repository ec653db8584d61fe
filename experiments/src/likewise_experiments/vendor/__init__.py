"""The project's own `benchmark`: phrases against vendors' names.

`experiment` runs it with `yardsticks`, `calibration` asks whether probabilities hold, `ablation` leaves out one part at
a time, `feedback_curve` adds judgements.
"""
