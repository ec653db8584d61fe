"""Why and why not: `explain` for every kind, by `conditions` and `explain`.

`evidence` says what made a score, `similarity_matrix` is the whole matrix, `feedback_pairs` what a judgement is about.
"""
