"""The formulas of sources.md T and H in plain Python, to check the arrays against."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from likewise.semantics.wordnet.taxonomy import Taxonomy

Bag = dict[str, int]


def plain_vector(bags: Sequence[Bag], tokens: Sequence[str], basis: set[int] | None = None) -> dict[int, float]:
    """A term's weights, within a basis of documents if one is given."""
    within = set(range(len(bags))) if basis is None else basis
    out: dict[int, float] = {}
    for token in tokens:
        held = [d for d in sorted(within) if token in bags[d]]
        for d in held:
            tf = 0.5 + 0.5 * bags[d][token] / max(bags[d].values())
            out[d] = out.get(d, 0.0) + tf * math.log(len(within) / len(held))
    return {d: w for d, w in out.items() if w > 0}


def plain_projection(
    bags: Sequence[Bag],
    tokens: Sequence[str],
    tags: Sequence[Sequence[str]],
    every: bool,
    *,
    letter: bool = False,
    whole_term: bool = False,
) -> dict[int, float]:
    """Algorithm 1 with its fallbacks, or with the letter's empty projections; idf by token or of the whole term."""
    known = [t for t in tokens if any(t in bag for bag in bags)]
    if not tags:
        return plain_vector(bags, known)
    meets: Callable[[Iterable[bool]], bool] = all if every else any
    basis = {d for d, bag in enumerate(bags) if any(meets(t in bag for t in tag) for tag in tags if tag)}
    if whole_term:
        held = [d for d in sorted(basis) if any(t in bags[d] for t in known)]
        idf = math.log(len(basis) / len(held)) if held else 0.0
        frequencies = {d: [0.5 + 0.5 * bags[d][t] / max(bags[d].values()) for t in known if t in bags[d]] for d in held}
        projected = {d: idf * sum(found) for d, found in frequencies.items() if idf > 0}
    else:
        projected = plain_vector(bags, known, basis) if basis else {}
    return projected if projected or letter else plain_vector(bags, known)


def plain_relatedness(a: dict[int, float], b: dict[int, float], metric: str) -> float:
    """Eq. 5 and 6 by the chosen metric; 0 if a vector is empty, but for the letter."""
    norm_a, norm_b = math.hypot(*a.values()), math.hypot(*b.values())
    product = sum(w * b.get(d, 0.0) for d, w in a.items())
    distance = math.hypot(*(a.get(d, 0.0) - b.get(d, 0.0) for d in a.keys() | b.keys()))
    if metric == "letter":
        return 1 / (1 + distance)
    if not a or not b:
        return 0.0
    if metric == "raw":
        return 1 / (1 + distance) if product > 0 else 0.0
    cosine = min(1.0, product / (norm_a * norm_b))
    if metric == "cosine":
        return cosine
    orthogonal = 1 / (1 + math.sqrt(2))
    return max(0.0, (1 / (1 + math.sqrt(2 - 2 * cosine)) - orthogonal) / (1 - orthogonal))


def plain_jcn(taxonomy: Taxonomy, a: str, b: str, every: bool) -> float:
    """Jiang-Conrath of two words."""
    best = 0.0
    senses = [taxonomy.senses(w, both=True).tolist() if every else taxonomy.senses(w)[:1].tolist() for w in (a, b)]
    information = taxonomy.information

    def above(synset: int) -> set[int]:
        start = int(taxonomy.ancestor_ends[synset - 1]) if synset else 0
        return set(taxonomy.ancestors[start : int(taxonomy.ancestor_ends[synset])].tolist())

    for x in senses[0]:
        for y in senses[1]:
            common = above(x) & above(y)
            if common:
                lcs = max(float(information[c]) for c in common)
                best = max(best, 1 / (1 + max(0.0, float(information[x]) + float(information[y]) - 2 * lcs)))
    return best
