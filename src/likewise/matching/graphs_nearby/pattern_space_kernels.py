"""Measuring candidates in place, each only as far as it takes to see that it is too far; loaded on first use."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Numba infers the types; annotations would not be checked.

from __future__ import annotations

import numpy as np

from likewise.kernels.compile import kernel

BLOCK = 16  # numbers between two looks at the sum: one line of the cache


@kernel
def measure(vectors, rows, of, constants, known, vector_empty, row_empty, result, slots, radius, mean):
    """Keep the pairs within the radius in every constant position, moved to the front; how many they are.

    `of[t, i]` is the vector of a triple's part, `constants[s, i]` the row of a pattern's constant or -1,
    `known[v]` the row with the same text as a vector, or -1. `mean` receives the mean distances.
    """
    within = 0
    limit = radius * radius * (1 + 1e-6) + 1e-12
    dimensions = rows.shape[1]
    for c in range(len(result)):
        t, s = result[c], slots[c]
        total = 0.0
        count = 0
        near = True
        for position in range(3):
            row = constants[s, position]
            if row < 0:
                continue
            count += 1
            vector = of[t, position]
            if known[vector] == row:
                continue
            squares = 1.0 * vector_empty[vector] + 1.0 * row_empty[row]
            start = 0
            while start < dimensions and squares <= limit:
                for d in range(start, min(start + BLOCK, dimensions)):
                    difference = vectors[vector, d] - rows[row, d]
                    squares += difference * difference
                start += BLOCK
            if np.sqrt(squares) > radius:
                near = False
                break
            total += np.sqrt(squares)
        if near:
            result[within] = t
            slots[within] = s
            mean[within] = total / count
            within += 1
    return within
