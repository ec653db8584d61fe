"""Why and why not: `explain` for every kind, by `conditions` and `other_kinds`.

`evidence` says what made a score, `grid` is the whole matrix, `feedback_pairs` what a judgement is about.
"""
