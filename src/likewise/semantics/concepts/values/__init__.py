"""Comparison of values: from relatedness to sameness.

`ValueComparer` takes the relatedness of two values and what is known about their words, and answers how surely the one
says the other. Hard facts decide first (numbers and codes, opposites, negation, instances, states), then evidence for
sameness (a shared meaning, a part for its whole, a kind for what it is a kind of), then soft exclusions.

- `parser`: a value's text as items, codes and negation
- `knowledge`: opposites, states, negations and formulas by hand
- `items`: what is known about one word or phrase, in arrays
- `kernels`: all pairs at once
- `judge`: `ValueComparer`
- `polarity`: names of Booleans turned to the side that is usually asked for
- `explanations`: why two values were told apart, in words
- `opposites`: are two words opposites?
"""
