"""The paper's own matcher, ours, and what lies between them: one departure at a time.

Hasan and Curry 2014 leave little room in sections 3.5, 4.2 and 4.3; we depart from them in five places. Each can be
taken back, so that a grid of themes can be run with the paper's letter, with ours, and with any one of the departures.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec


class Variant(msgspec.Struct, frozen=True):
    """One way to compare: options of the measure `thematic`, and whether predicates may share a tuple."""

    name: str
    options: dict[str, str]
    shared: bool = False

    @property
    def measure(self) -> tuple[str, dict[str, str]]:
        """The measure as `Space.measure` takes it."""
        return "thematic", self.options


class Departure(msgspec.Struct, frozen=True):
    """One of our departures: what it changes in the letter. An empty `options` is about tuples."""

    name: str
    options: dict[str, str] = {}


LETTER: Final = Variant(
    "the letter", {"metric": "letter", "projection": "letter", "idf": "term", "equal": "letter"}, shared=True
)
OURS: Final = Variant("ours", {})
DEPARTURES: Final = (
    Departure("no common document is 0", {"metric": "raw"}),
    Departure("unit vectors", {"metric": "unit"}),
    Departure("an emptied term stays whole", {"projection": "whole"}),
    Departure("idf by token", {"idf": "token"}),
    Departure("equal terms are 1", {"equal": "one"}),
    Departure("a tuple serves once"),
)


def variants() -> Iterator[Variant]:
    """The letter, the letter with each departure, ours with each departure taken back, and ours.

    >>> [v.name for v in variants()][:3]
    ['the letter', 'the letter, but no common document is 0', 'the letter, but unit vectors']
    >>> len(list(variants()))
    13
    """
    yield LETTER
    for departure in DEPARTURES:
        yield Variant(
            f"{LETTER.name}, but {departure.name}", {**LETTER.options, **departure.options}, bool(departure.options)
        )
    for departure in DEPARTURES[1:]:  # ours has the unit vectors, of which the first is a half
        back = {option: LETTER.options[option] for option in departure.options}
        yield Variant(f"{OURS.name}, without: {departure.name}", {**OURS.options, **back}, not departure.options)
    yield OURS
