"""The thesauri there are, by name or path."""

from __future__ import annotations

from likewise_experiments.thematic.thesaurus import Thesaurus, eurovoc
from likewise_experiments.thematic.wordnet_thesaurus import wordnet


def open_thesaurus(said: str) -> Thesaurus:
    """`wordnet`, or the path of a EuroVoc file.

    >>> open_thesaurus("wordnet").name
    'wordnet'
    """
    return wordnet() if said == "wordnet" else eurovoc(said)
