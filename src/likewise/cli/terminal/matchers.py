"""The matcher that a command's options describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likewise.cli.terminal.options import measure_named

if TYPE_CHECKING:
    from likewise.matching.matcher import Matcher


def matcher_for(space: str | None, measure: str | None, threshold: float | None) -> Matcher:
    """A matcher with this space, measure and threshold, each by default if it is None.

    >>> matcher_for(None, "esa:metric=cosine", 0.4).interpretation.threshold
    0.4
    """
    from likewise import Matcher, load_space

    if measure is None:
        return Matcher(space=space, threshold=threshold)
    name, options = measure_named(measure)
    opened = load_space(space)
    return Matcher(space=opened, measure=opened.measure(name, **options), threshold=threshold)
