"""People's judgements of relatedness: the `experiment` that compares measures with them."""
