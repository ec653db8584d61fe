"""A thesaurus small enough to see through."""

from __future__ import annotations

from likewise_experiments.thematic.thesaurus import Thesaurus, ThesaurusEntry


def small_thesaurus() -> Thesaurus:
    """Some of EuroVoc's entries, from memory of their shape."""
    return Thesaurus(
        "small",
        [
            ThesaurusEntry(("town", "city"), ("town planning", "urban area")),
            ThesaurusEntry(("Europe", "European countries"), ()),
            ThesaurusEntry(("energy consumption", "use of energy"), ("consumption",)),
            ThesaurusEntry(("noise", "sound emission"), ("acoustics",)),
            ThesaurusEntry(("Ireland", "Eire"), ("regions of Ireland",)),
            ThesaurusEntry(("vehicle", "transport equipment"), ("motor vehicle",)),
        ],
        ["energy policy", "land transport", "environmental policy", "social policy", "health", "geography"],
    )
