"""A thesaurus small enough to see through."""

from __future__ import annotations

from likewise.evaluation.thematic.thesaurus import Entry, Thesaurus


def small_thesaurus() -> Thesaurus:
    """Some of EuroVoc's entries, from memory of their shape."""
    return Thesaurus(
        "small",
        [
            Entry(("town", "city"), ("town planning", "urban area")),
            Entry(("Europe", "European countries"), ()),
            Entry(("energy consumption", "use of energy"), ("consumption",)),
            Entry(("noise", "sound emission"), ("acoustics",)),
            Entry(("Ireland", "Eire"), ("regions of Ireland",)),
            Entry(("vehicle", "transport equipment"), ("motor vehicle",)),
        ],
        ["energy policy", "land transport", "environmental policy", "social policy", "health", "geography"],
    )
