"""Pairs of themes for the sub-experiments (Hasan and Curry 2014, section 5.2.4): one always contains the other."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
import numpy as np

from likewise.errors import InputError

LARGEST = 30  # tags of a theme, as in the paper
QUICK = "6x6x3"


class ThemePair(msgspec.Struct, frozen=True):
    """One sub-experiment's themes; `sample` counts the pairs of one cell."""

    event_size: int
    subscription_size: int
    sample: int
    event: tuple[str, ...]
    subscription: tuple[str, ...]


def theme_sizes(count: int, largest: int = LARGEST) -> list[int]:
    """Sizes from 1 to the largest, all or spread evenly.

    >>> theme_sizes(30) == list(range(1, 31)), theme_sizes(6)
    (True, [1, 7, 13, 18, 24, 30])
    """
    return [int(n) for n in np.unique(np.round(np.linspace(1, largest, count)).astype(int))]


def read_cells(said: str) -> tuple[list[int], list[int], int]:
    """Sizes of event themes, sizes of subscription themes and samples, from `30x30x5` or `quick`.

    >>> read_cells("2x3x5")
    ([1, 30], [1, 16, 30], 5)
    """
    try:
        events, subscriptions, samples = (int(n) for n in (QUICK if said == "quick" else said).lower().split("x"))
    except ValueError:
        raise InputError(f"expected cells like 30x30x5 or quick, found {said!r}") from None
    if not (1 <= events <= LARGEST and 1 <= subscriptions <= LARGEST and samples >= 1):
        raise InputError(f"cells are up to {LARGEST}x{LARGEST}, with at least 1 sample, found {said!r}")
    return theme_sizes(events), theme_sizes(subscriptions), samples


def theme_pairs(
    top_terms: Sequence[str],
    event_sizes: Sequence[int],
    subscription_sizes: Sequence[int],
    samples: int,
    seed: int = 0,
) -> list[ThemePair]:
    """A pair for each cell and sample: the larger theme drawn from the top terms, the smaller from the larger.

    Every pair has its own source of randomness, so a cell has the same themes in any grid it belongs to.

    >>> pair = theme_pairs(["energy", "transport", "health"], [1], [2], 1)[0]
    >>> set(pair.event) <= set(pair.subscription)
    True
    """
    out = []
    for e in event_sizes:
        for s in subscription_sizes:
            for sample in range(samples):
                chosen = random.Random(f"{seed} {e} {s} {sample}")
                larger = chosen.sample(sorted(top_terms), max(e, s))
                smaller = chosen.sample(larger, min(e, s))
                event, subscription = (larger, smaller) if e >= s else (smaller, larger)
                out.append(ThemePair(e, s, sample, tuple(event), tuple(subscription)))
    return out
