"""Inventory of concepts: kinds of readings, their qualifiers and roles, and the labels people write for them.

An inventory is data (`concepts-core.csv` in the package, what `likewise concepts build` makes of public
vocabularies, what a user adds), one concept a row. Seven sorts of concepts:

- `kind`: what is read (temperature, carbon dioxide, state of charge), with its dimensions, the kinds of values it
  has, and the qualifiers that an unqualified name has by default (a temperature is the ambient air's);
- `weak`: a word that is a kind only where nothing stronger stands beside it (`level`, `total`, `number`);
- `qualifier`: which one of a kind (the water's, the outdoor one); those of one group in `apart` exclude each other;
- `role`: what a name is about a reading besides the reading itself (its setpoint, limit, alarm, maximum);
- `silent`: a word that says nothing (`value`, `reading`);
- `means`: a short form, and the words it stands for;
- `name`: a name as a vocabulary uses it, and other names of the same thing; those of one group in `apart` name
  different things (`name_agreement`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Final, Literal, get_args

import msgspec

from likewise.errors import InputError

Sort = Literal["kind", "weak", "qualifier", "role", "silent", "means", "name"]
SORTS: Final = get_args(Sort)
_PREPOSITIONS: Final = frozenset({"of", "in", "on", "at", "to", "from", "for", "by", "with", "per", "since", "until"})
_VOWELS: Final = frozenset("aeiouyäöüéèêàáíóúåøæ")
_NO_PLURAL: Final = frozenset({"mains"})
_UNSPECIFIC_DIMENSIONS: Final = frozenset({"ratio", "length", "time", "angle", "concentration", "data"})
WITH_HEADS: Final = "encyclopaedia"  # sources whose kinds are narrower than what they are named after
LONGEST_LABEL: Final = 8  # words; longer labels are sentences


class Concept(msgspec.Struct, frozen=True):
    """One row of the inventory. The name is a label too (for `means`: the words that the labels stand for)."""

    sort: Sort
    name: str
    labels: tuple[str, ...] = ()
    broader: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    default: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    source: str = ""


def singular(word: str) -> str:
    """Return a word without its plural ending. Labels and names share the rule, so it may be linguistically wrong.

    What has no vowel is an acronym, and its last letter stands for a word.

    >>> singular("volts"), singular("gas"), singular("status"), singular("entries"), singular("chws")
    ('volt', 'gas', 'status', 'entry', 'chws')
    """
    if word in _NO_PLURAL or len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if _VOWELS.isdisjoint(word):
        return word
    return word[:-3] + "y" if word.endswith("ies") else word[:-1]


def label_words(label: str) -> tuple[str, ...]:
    """Return the words under which a label is looked up."""
    return tuple(singular(word) for word in label.casefold().split())


class Inventory:
    """Read-only index of concepts by label.

    Rows of one sort and name are one concept: a vocabulary may add labels to what is there. A cycle of broader
    concepts is refused with its members.
    """

    def __init__(self, concepts: Iterable[Concept]) -> None:
        self.concepts = _merge(concepts)
        self.means: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.labels: dict[tuple[str, ...], list[Concept]] = {}
        self.kinds: dict[str, Concept] = {}
        self.qualifiers: dict[str, Concept] = {}
        for concept in self.concepts:
            if concept.sort == "name":
                continue
            if concept.sort == "means":
                for label in concept.labels:
                    self.means.setdefault(label_words(label), label_words(concept.name))
                continue
            if concept.sort == "kind":
                self.kinds.setdefault(concept.name, concept)
            elif concept.sort == "qualifier":
                self.qualifiers.setdefault(concept.name, concept)
            for label in dict.fromkeys((concept.name, *concept.labels)):
                labelled = self.labels.setdefault(label_words(label), [])
                if concept not in labelled:
                    labelled.append(concept)
        for concept in tuple(self.kinds.values()):
            for name in concept.default:
                if label_words(name) not in self.labels:
                    self.qualifiers[name] = Concept("qualifier", name)
                    self.labels.setdefault(label_words(name), []).append(self.qualifiers[name])
        self.longest: dict[str, int] = {}  # the words of the longest label that begins with a word
        for words in self.labels:
            self.longest[words[0]] = max(self.longest.get(words[0], 0), len(words))
        self.by_dimension: dict[str, tuple[str, ...]] = {}
        for kind in self.kinds.values():
            if kind.dimensions and kind.dimensions[0] not in _UNSPECIFIC_DIMENSIONS:
                self.by_dimension.setdefault(kind.dimensions[0], (kind.name,))

    def has_label(self, word: str) -> bool:
        """Return whether a single word is a label or a short form."""
        return (word,) in self.labels or (word,) in self.means

    def above(self, kind: str) -> frozenset[str]:
        """Return all broader kinds of a kind, without itself."""
        return _above(kind, self.kinds)

    def above_qualifier(self, qualifier: str) -> frozenset[str]:
        """Return all broader qualifiers of a qualifier, without itself (a room is indoors)."""
        return _above(qualifier, self.qualifiers)

    def qualifier_names(self, label: str) -> list[str]:
        """Return the qualifiers that a word or phrase names."""
        return [c.name for c in self.labels.get(label_words(label), ()) if c.sort == "qualifier"]

    def expand(self, words: Sequence[str]) -> list[str]:
        """Replace short forms by their words, the longest first. A phrase that is a label of the same length stays."""
        out: list[str] = []
        at = 0
        while at < len(words):
            phrase = self._phrase(words, at)
            for end in range(min(len(words), at + 3), at + max(0, phrase - 1), -1):
                expansion = self.means.get(tuple(words[at:end]))
                if expansion is not None and end - at > phrase:
                    out += expansion
                    at = end
                    break
            else:
                out += words[at : at + max(1, phrase)]
                at += max(1, phrase)
        return out

    def _phrase(self, words: Sequence[str], at: int) -> int:
        """Return how many words the longest label of several words has that begins here; 0 if there is none."""
        longest = min(len(words) - at, self.longest.get(words[at], 0))
        return next((n for n in range(longest, 1, -1) if tuple(words[at : at + n]) in self.labels), 0)


def _merge(concepts: Iterable[Concept]) -> tuple[Concept, ...]:
    """Merge rows with equal sort and name. Values of the first row come first."""
    out: dict[tuple[str, str], Concept] = {}
    for concept in concepts:
        key = (concept.sort, concept.name)
        first = out.get(key)
        if first is None:
            out[key] = concept
            continue
        added = {
            field: tuple(dict.fromkeys((*getattr(first, field), *getattr(concept, field))))
            for field in ("labels", "broader", "dimensions", "values", "default", "apart")
        }
        out[key] = msgspec.structs.replace(first, **added)
    merged = tuple(_with_heads(out.values()))
    for sort in ("kind", "qualifier"):
        _refuse_cycles({c.name: c for c in merged if c.sort == sort})
    return merged


def _with_heads(concepts: Iterable[Concept]) -> Iterator[Concept]:
    """Yield concepts; a kind that is named after another one (`vessel heading`) is narrower than that (`heading`)."""
    concepts = tuple(concepts)
    weak = {concept.name for concept in concepts if concept.sort == "weak"} - {"mode"}
    kinds = {concept.name for concept in concepts if concept.sort == "kind"} - weak
    for concept in concepts:
        words = concept.name.split()
        before = next((at for at, word in enumerate(words) if at and word in _PREPOSITIONS), len(words))
        heads = (" ".join(words[at:before]) for at in range(1 if before == len(words) else 0, before))
        head = next((name for name in heads if name in kinds and name != concept.name), "")
        named_after = concept.sort == "kind" and concept.source.startswith(WITH_HEADS) and not concept.broader and head
        yield msgspec.structs.replace(concept, broader=(head,)) if named_after else concept


def _refuse_cycles(concepts: dict[str, Concept]) -> None:
    """Refuse broader concepts that form a cycle."""
    try:
        TopologicalSorter({name: set(concept.broader) for name, concept in concepts.items()}).prepare()
    except CycleError as error:
        round_trip = " -> ".join(error.args[1][::-1])
        raise InputError(f"broader concepts go round in a circle: {round_trip}; take one of these steps out") from None


def _above(name: str, concepts: dict[str, Concept]) -> frozenset[str]:
    ancestors: set[str] = set()
    waiting = [name]
    while waiting:
        concept = concepts.get(waiting.pop())
        for broader in concept.broader if concept is not None else ():
            if broader not in ancestors and broader != name and broader in concepts:
                ancestors.add(broader)
                waiting.append(broader)
    return frozenset(ancestors)
