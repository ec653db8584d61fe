"""WordNet as a thesaurus: the synonyms of a noun's first sense; what it is a kind of, and a part of, as related."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from likewise.semantics.wordnet.compact import CompactWordNet, unpack
from likewise.semantics.wordnet.embedded import WORDNET, packed
from likewise_experiments.thematic.thesaurus import Thesaurus, ThesaurusEntry

RELATED: Final = ("@", "@i", "#p")  # kind of, instance of, part of (wninput(5))
TOPIC: Final = ";c"  # belongs to the subject
TOP_TERMS: Final = 206  # as many as EuroVoc has in the paper's domains


@lru_cache(maxsize=1)
def wordnet() -> Thesaurus:
    """The WordNet that ships with Likewise, as a thesaurus, made once.

    >>> thesaurus = wordnet()
    >>> "urban center" in [a.text for a in thesaurus.alternatives("city")]
    True
    >>> len(thesaurus.top_terms())
    206
    """
    return thesaurus_of(unpack(packed(WORDNET)))


def thesaurus_of(compact: CompactWordNet) -> Thesaurus:
    """The nouns of a WordNet as a thesaurus; top terms are the subjects most synsets belong to."""
    nouns = compact.parts[0]
    ends = compact.words.ends[:nouns].tolist()
    values, senses = compact.words.values.tolist(), compact.senses.tolist()
    names: list[tuple[str, ...]] = []
    keys: list[tuple[str, ...]] = []
    start = 0
    for end in ends:
        names.append(tuple(compact.lexicon[w] for w in values[start:end]))
        keys.append(tuple(compact.lexicon[values[i]] for i in range(start, end) if senses[i] == 1))
        start = end
    near: list[list[str]] = [[] for _ in range(nouns)]
    for symbol in RELATED:
        for source, target in compact.relations[symbol].tolist():
            if source < nouns and target < nouns:
                near[source] += names[target]
    entries = (
        ThesaurusEntry(names[i], tuple(dict.fromkeys(near[i])), keys[i]) for i in range(nouns) if keys[i]
    )  # a synset that is no word's first sense is found by no name
    members = np.bincount(compact.relations[TOPIC][:, 1], minlength=nouns)[:nouns]
    largest = np.argsort(-members, kind="stable")
    tops = list(dict.fromkeys(names[i][0] for i in largest[: 2 * TOP_TERMS].tolist()))[:TOP_TERMS]
    return Thesaurus("wordnet", entries, sorted(tops))
