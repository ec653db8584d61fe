"""Thesauri that make evaluation data: which other words a term may be replaced by.

A thesaurus makes the data and the ground truth of the thematic evaluation (Hasan and Curry 2014, section 5.2);
the matcher never sees it. EuroVoc is what the paper uses; WordNet, which every installation has, serves where
EuroVoc is absent (with the WordNet space that is circular, and the results say so).
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from likewise.errors import ArtefactMissing, FormatError
from likewise.model.text import fold

# The six EuroVoc domains the paper names in section 5.2.2, by their code.
DOMAINS: Final[Mapping[int, str]] = {
    48: "transport",
    52: "environment",
    66: "energy",
    72: "geography",
    32: "education and communications",
    28: "social questions",
}


class ThesaurusEntry(msgspec.Struct, frozen=True):
    """What a thesaurus says about one concept: names that mean the same, and names of what is related.

    `keys` are the names it is found by, if not all of them.
    """

    synonyms: tuple[str, ...]
    related: tuple[str, ...]
    keys: tuple[str, ...] = ()


class Alternative(msgspec.Struct, frozen=True):
    """A term that may stand for another; `synonym` if the thesaurus holds them for the same concept."""

    text: str
    synonym: bool


class Thesaurus:
    """Entries by name, folded.

    >>> energy = ThesaurusEntry(("energy consumption", "use of energy"), ("consumption",))
    >>> thesaurus = Thesaurus("small", [energy], ["energy policy"])
    >>> [a.text for a in thesaurus.alternatives("Energy consumption")]
    ['use of energy', 'consumption']
    >>> [a.text for a in thesaurus.alternatives("increased energy consumption event")]
    ['increased use of energy event', 'increased consumption event']
    >>> thesaurus.alternatives("kilowatt hour")
    ()
    """

    def __init__(self, name: str, entries: Iterable[ThesaurusEntry], top_terms: Iterable[str]) -> None:
        self.name = name
        self._entries: dict[str, list[ThesaurusEntry]] = {}
        for entry in entries:
            for key in entry.keys or entry.synonyms:
                self._entries.setdefault(fold(key), []).append(entry)
        self._top_terms = tuple(top_terms)
        self._kept: dict[str, tuple[Alternative, ...]] = {}

    def __len__(self) -> int:
        """How many names it knows."""
        return len(self._entries)

    def top_terms(self) -> tuple[str, ...]:
        """The most general terms, from which theme tags are picked (section 5.2.4)."""
        return self._top_terms

    def alternatives(self, term: str) -> tuple[Alternative, ...]:
        """What may stand for a term, synonyms first, each once.

        Of a term that is not known as a whole, the longest known run of its words is replaced (the first
        of several), as in section 5.2.2.
        """
        kept = self._kept.get(term)
        if kept is None:
            kept = self._kept[term] = tuple(self._whole(term) or self._within(term))
        return kept

    def _whole(self, term: str) -> list[Alternative]:
        own = fold(term)
        found: dict[str, Alternative] = {}
        entries = self._entries.get(own, [])
        for synonym in (True, False):
            for entry in entries:
                for text in entry.synonyms if synonym else entry.related:
                    if fold(text) != own:
                        found.setdefault(fold(text), Alternative(text, synonym))
        return list(found.values())

    def _within(self, term: str) -> list[Alternative]:
        words = term.split()
        for before, after in _runs(len(words)):
            if found := self._whole(" ".join(words[before:after])):
                head, tail = words[:before], words[after:]
                return [Alternative(" ".join([*head, a.text, *tail]), a.synonym) for a in found]
        return []


def _runs(length: int) -> Iterator[tuple[int, int]]:
    """Every run of words that is not the whole, the longest first, then from the left."""
    for size in range(length - 1, 0, -1):
        for start in range(length - size + 1):
            yield start, start + size


class _Concept(
    msgspec.Struct,
    rename={"preferred": "prefLabel", "others": "altLabel", "schemes": "inScheme", "tops": "topConceptOf"},
):
    preferred: dict[str, str] = {}
    others: dict[str, list[str]] = {}
    schemes: list[int | str] = []
    tops: list[int | str] = []
    related: list[int | str] = []
    narrower: list[int | str] = []


class _Scheme(msgspec.Struct):
    domain: int = 0


class _EuroVoc(msgspec.Struct):
    schemes: dict[str, _Scheme]
    concepts: dict[str, _Concept]


def eurovoc(path: str | Path, domains: Iterable[int] = tuple(DOMAINS)) -> Thesaurus:
    """EuroVoc from JSON (plain or gzip): the English terms of the micro-thesauri of some domains.

    A concept's preferred and other labels are synonyms; concepts it is related to, and narrower ones, are
    related (the paper's own example replaces `city` by `urban area`, a narrower term of it). Broader
    concepts are left out: they stand above unlike things alike. Top terms are the top concepts of those
    micro-thesauri, 206 in the edition of 2021.
    """
    path = Path(path)
    if not path.is_file():
        raise ArtefactMissing(f"there is no thesaurus at {path}; give the EuroVoc file, or `wordnet`")
    content = path.read_bytes()
    try:
        read = msgspec.json.decode(gzip.decompress(content) if path.suffix == ".gz" else content, type=_EuroVoc)
    except (msgspec.DecodeError, OSError, EOFError) as error:
        raise FormatError(f"{path} is not EuroVoc in JSON (schemes, concepts with prefLabel): {error}") from None
    wanted = set(domains)
    inside = {number for number, scheme in read.schemes.items() if scheme.domain in wanted}
    chosen = [c for c in read.concepts.values() if _english(c) and any(str(s) in inside for s in c.schemes)]
    entries = [_entry(c, read.concepts) for c in chosen]
    tops = sorted(_english(c) for c in chosen if any(str(s) in inside for s in c.tops))
    return Thesaurus("eurovoc", entries, tops)


def _english(concept: _Concept) -> str:
    return concept.preferred.get("en", "")


def _entry(concept: _Concept, concepts: Mapping[str, _Concept]) -> ThesaurusEntry:
    near = [concepts[str(number)] for number in (*concept.related, *concept.narrower) if str(number) in concepts]
    synonyms = dict.fromkeys([_english(concept), *concept.others.get("en", [])])
    return ThesaurusEntry(tuple(synonyms), tuple(dict.fromkeys(_english(c) for c in near if _english(c))))
