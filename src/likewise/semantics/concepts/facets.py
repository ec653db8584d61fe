"""Parser of attribute names into facets: kind, qualifiers, role, dimension, value type and indices.

A name is cut into words, and the words into the longest labels of the inventory. In an English compound the last
noun is the head: a `battery voltage` is a voltage, a `temperature alarm` an alarm of a temperature. So the last
kind before a preposition is what is read, unless it is a weak word (`level`, `total`) and a stronger one stands
beside it; every other content word says which one. Of a path the last part that says something counts; where
none does, the unit tells the kind, else the text beside the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from likewise.semantics.concepts.inventory import LONGEST_LABEL, Concept, Inventory
from likewise.semantics.concepts.name_tokens import NUMBERED, NameTokenizer
from likewise.semantics.measure import Term
from likewise.semantics.text.stop_words import STOP_WORDS
from likewise.units import any_unit, find_unit, stated_units, units_in_name
from likewise.units.names import measured_dimensions

_PARTS: Final = re.compile(r"\[\]\.?|\.(?=\D)|/")
# "at 30 cm", "over 1 kHz": which one it is, and no unit of the reading.
_PLACE: Final = re.compile(
    r"\b(at|in|over|under|of|above|below|within) (\d+(?:[.,]\d+)?) ?(k|M)?(m|cm|mm|km|ft|in|Hz|s|min)\b"
)
_STOP: Final = STOP_WORDS["english"]
PREPOSITIONS: Final = frozenset(
    {"of", "in", "on", "at", "to", "from", "for", "by", "with", "when", "while", "per", "since", "until"}
    | {"under", "over"}
)
STATISTICS: Final = frozenset({"minimum", "maximum", "average", "deviation", "previous"})
INSTANTANEOUS: Final = "instantaneous"  # the reading itself, said aloud: it is no average
# Of three phases each letter has its number.
PHASES: Final = {letter: str(at % 3 + 1) for at, letter in enumerate("abcrstuvw")}
# Outer parts of a path that hold a device's fields, whatever they are of.
ENVELOPES: Final = frozenset(
    [
        "device",
        "devices",
        "sensor",
        "sensors",
        "data",
        "payload",
        "params",
        "properties",
        "attributes",
        "fields",
        "traits",
        "state",
        "status",
        "reported",
        "values",
        "metrics",
        "measurements",
        "object",
        "decoded",
        "content",
        "body",
        "system",
    ]
)
LONGEST_CONTEXT: Final = 3  # words; longer texts beside a value are messages, not names
LISTED: Final = 2  # a qualifier of the inventory,
KNOWN: Final = 1  # a word of the space,
UNKNOWN: Final = 0  # neither
Certainty = Literal["head", "weak", "unit", "guess", "context", ""]


class Qualifier(msgspec.Struct, frozen=True):
    """A word that restricts the kind: its concept's name (or the word itself), who knows it, and if an outer part of a
    path has it.

    `word` is the single word that was written, '' if it were several.
    """

    name: str
    source: int = LISTED
    is_outer: bool = False
    word: str = ""


class Facets(msgspec.Struct, frozen=True):
    """Facets of one attribute name.

    `kinds` are alternatives (a `battery` may be a voltage or a charge until a unit decides), and `certainty` says
    what they follow from; `role` is '' for the reading itself; `dimension` is that of the stated unit; `value` is the
    kind of the value; `numbers` are indices and sizes, in order.
    """

    kinds: tuple[str, ...] = ()
    qualifiers: tuple[Qualifier, ...] = ()
    role: str = ""
    dimension: str = ""
    value: str = ""
    numbers: tuple[str, ...] = ()
    certainty: Certainty = ""


class _Span(NamedTuple):
    """Words that match one label of the inventory, or one word without a label."""

    words: tuple[str, ...]
    concepts: Sequence[Concept]

    def names(self, sort: str) -> list[str]:
        return [c.name for c in self.concepts if c.sort == sort]

    @property
    def strong(self) -> bool:
        return bool(self.names("kind")) and not self.names("weak")

    @property
    def preposition(self) -> bool:
        return not self.concepts and self.words[0] in PREPOSITIONS


class _Part(msgspec.Struct, frozen=True):
    """Facets of one part of a path. `strong`: a kind is its head. `has_content`: it has a word with content."""

    kinds: tuple[str, ...]
    qualifiers: tuple[Qualifier, ...]
    role: str
    numbers: tuple[str, ...]
    strong: bool
    has_content: bool


class FacetParser:
    """Parse terms into facets by one inventory. Pure: equal terms give equal facets."""

    def __init__(self, inventory: Inventory, known: Callable[[str], bool]) -> None:
        self.inventory, self._known = inventory, known
        self._words = NameTokenizer(inventory, known)

    def has_word(self, word: str) -> bool:
        """Return whether the inventory or the space has a word."""
        return self.inventory.has_label(word) or self._known(word)

    def names_a_kind(self, label: str) -> bool:
        """Return whether the parser finds a known kind in a label."""
        return bool(self.facets(Term(label)).kinds)

    def facets(self, term: Term) -> Facets:
        """Return the facets of a term."""
        text = _PLACE.sub(r"\1 \2", " ".join(term.text.split()))
        parts = [part for part in _PARTS.split(text) if part] if " " not in text else [text]
        in_name = [(u, sure) for u, sure in units_in_name(text) if not self.inventory.has_label(u.symbol.casefold())]
        measured = measured_dimensions(text)  # the `a` of `voltage_a` is no ampere
        fitting = [u for u, sure in in_name if sure or not measured or u.dimension in measured]
        symbols = frozenset(u.symbol.casefold() for u in fitting)
        parsed = [self._part(part, symbols) for part in parts]
        main = self._main(parsed)
        head = parsed[main] if parsed else _Part((), (), "", (), False, False)
        speaks = any(q.source < LISTED for part in parsed for q in part.qualifiers)
        dimension = self._dimension(term, [u.dimension for u, sure in in_name if sure], head, speaks)
        guessed = [u.dimension for u, sure in in_name if not sure]
        kinds, certainty = self._kinds(parsed, main, term.context, dimension, guessed)
        if term.unit and kinds and certainty == "head":
            dimension = self._stated_for(kinds, term.unit) or dimension
        role = head.role or next((p.role for p in (*parsed[main + 1 :], *parsed[:main][::-1]) if p.role), "")
        if role == "alarm" and any(self._is_alarm(kind) for kind in kinds):
            role = ""  # a smoke alarm is smoke
        guessed_only = certainty == "guess" and role not in STATISTICS  # a role says more than a letter may
        if (not kinds or guessed_only) and role and role != INSTANTANEOUS:
            kinds, certainty = (role,), "head"
        outer = [
            Qualifier(name, source, True, word)
            for at, part in enumerate(parsed)
            if at != main and (at > main or parts[at].casefold() not in ENVELOPES)
            for name, source, word in (
                *((q.name, q.source, q.word) for q in part.qualifiers),
                *((k, LISTED, "") for k in part.kinds if at < main and part.strong and k not in kinds),
            )
        ]
        return Facets(
            kinds=kinds,
            qualifiers=tuple(dict.fromkeys((*head.qualifiers, *outer))),
            role=role,
            dimension=dimension,
            value=term.kind,
            numbers=tuple(n for part in parsed[main:] for n in part.numbers),
            certainty=certainty,
        )

    @staticmethod
    def _main(parsed: Sequence[_Part]) -> int:
        """Return the index of the last part whose head is a kind, else of the last part with content."""
        for criterion in ("strong", "has_content"):
            for at in range(len(parsed) - 1, -1, -1):
                if getattr(parsed[at], criterion):
                    return at
                if criterion == "strong" and parsed[at].has_content and not parsed[at].kinds:
                    break
        return 0

    def _dimension(self, term: Term, sure: Sequence[str], head: _Part, outer: bool) -> str:
        """Return the dimension of the stated unit: beside the value, in the name, else in the nearby text."""
        stated = any_unit(term.unit) if term.unit else None
        if stated is not None:
            return stated.dimension
        if sure:
            return sure[0]
        if head.strong or head.qualifiers or outer:
            return ""
        return next((u.dimension for u in map(find_unit, term.context) if u is not None), "")

    def _is_alarm(self, kind: str) -> bool:
        """Return whether the alarm of a kind is the kind itself."""
        return any(c.name == kind for c in self.inventory.labels.get((*kind.split(), "alarm"), ()))

    def _stated_for(self, kinds: Sequence[str], unit: str) -> str:
        """Return the dimension of a unit that these kinds mostly have, if it may be of several: /min of a heart."""
        usual = {
            concept.dimensions[0] for k in kinds if (concept := self.inventory.kinds.get(k)) and concept.dimensions
        }
        return next((u.dimension for u in stated_units(unit) if u.dimension in usual), "")

    def _kinds(
        self, parsed: Sequence[_Part], main: int, context: Sequence[str], dimension: str, guessed: Sequence[str]
    ) -> tuple[tuple[str, ...], Certainty]:
        """Return the kinds and what they follow from: the head, else the unit, the nearby text, a weak word."""
        head = parsed[main] if parsed else None
        if head is not None and head.strong:
            return self._kinds_with_dimension(head.kinds, dimension, guessed), "head"
        by_unit = self.inventory.by_dimension
        weak = next((p.kinds for p in parsed[::-1] if p.kinds), ())
        if weak and self._fits(weak, [dimension] if dimension else guessed):
            return self._kinds_with_dimension(weak, dimension, guessed), "weak"
        for measured in [dimension] if dimension else [] if weak else guessed[:1]:
            if measured in by_unit:
                return by_unit[measured], "unit" if dimension else "guess"
        if not weak and (head is None or not head.has_content) and not any(p.qualifiers for p in parsed):
            for near in context:
                if find_unit(near) is None and near.isascii():
                    part = self._part(near, frozenset())
                    if part.strong and len(near.split()) <= LONGEST_CONTEXT:
                        return part.kinds, "context"
        return (self._kinds_with_dimension(weak, dimension, guessed), "weak") if weak else ((), "")

    def _fits(self, kinds: Sequence[str], dimensions: Sequence[str]) -> bool:
        return any(set(self.inventory.kinds[k].dimensions) & set(dimensions) for k in kinds)

    def _kinds_with_dimension(self, kinds: tuple[str, ...], dimension: str, guessed: Sequence[str]) -> tuple[str, ...]:
        """Return those of several kinds that have the unit's dimension; all of them if none has it.

        A `speed` in revolutions is the rotational speed.
        """
        if dimension and not self._fits(kinds, (dimension,)):
            ends = tuple(f" {kind}" for kind in kinds)
            if measured := tuple(k for k in self.inventory.by_dimension.get(dimension, ()) if k.endswith(ends)):
                return measured
        if len(kinds) > 1:
            for dimensions in ((dimension,), guessed):
                fitting = tuple(k for k in kinds if self._fits((k,), dimensions))
                if fitting:
                    return fitting
        return kinds

    def _spans(self, words: Sequence[str]) -> list[_Span]:
        """Split words into as few labels as possible, the longest first from the right, where the head stands."""
        labels, longest = self.inventory.labels, self.inventory.longest
        fewest: list[tuple[int, int]] = [(0, 0)] * (len(words) + 1)  # spans up to a word, and where the last one begins
        for end in range(1, len(words) + 1):
            best = (fewest[end - 1][0] + (1 if self._is_label(words[end - 1 : end]) else 2), end - 1)
            for start in range(max(0, end - LONGEST_LABEL), end - 1):
                if start and words[start] in PREPOSITIONS:
                    continue  # `in air` is a state as a whole name, and a place behind a thing
                if end - start <= longest.get(words[start], 0) and tuple(words[start:end]) in labels:
                    best = min(best, (fewest[start][0] + 1, start))
            fewest[end] = best
        out, end = [], len(words)
        while end:
            start = fewest[end][1]
            phrase = tuple(words[start:end])
            known = end - start > 1 or self._is_label(phrase)
            out.append(_Span(phrase, labels[phrase] if known else ()))
            end = start
        return out[::-1]

    def _spans_between_numbers(self, words: Sequence[str]) -> list[_Span]:
        """Split words into labels, with an index at the end where it stands inside a label: `fan 1 speed`."""
        spans = self._spans(words)
        inner = [at for at, word in enumerate(words[:-1]) if at and word.isdigit()]
        if not inner:
            return spans
        moved = self._spans([*(w for at, w in enumerate(words) if at not in inner), *(words[at] for at in inner)])
        return moved if len(moved) < len(spans) else spans

    def _is_label(self, words: Sequence[str]) -> bool:
        return words[0] not in PREPOSITIONS and tuple(words) in self.inventory.labels

    def _part(self, text: str, symbols: frozenset[str]) -> _Part:
        spans = self._spans_between_numbers(self._words(text, symbols))
        head = _head(spans)
        kinds = tuple(spans[head].names("kind")) if head >= 0 else ()
        roles = [role for span in spans for role in span.names("role")]
        if any(at != head and span.words == ("current",) for at, span in enumerate(spans)) and head >= 0:
            roles.append(INSTANTANEOUS)  # mostly `now` beside another kind
        roles = [role for role in roles if role != INSTANTANEOUS] or roles
        plain = [role for role in roles if role not in STATISTICS]
        qualifiers: list[Qualifier] = []
        numbers: list[str] = []
        for at, span in enumerate(spans):
            listed = [] if span.names("silent") or span.names("role") else span.names("qualifier")
            defaults = {d for c in span.concepts for d in c.default}
            if head >= 0 and span.words == ("active",) and any("state" in c.values for c in spans[head].concepts):
                listed = []  # of a state it says that it is so; of power and energy, which part
                continue
            if at == head and any("state" in c.values for c in span.concepts):
                listed = [name for name in listed if name in defaults]  # a `contact` that is a state is no surface
            if not listed and at == head:
                listed = [n for w in span.words for n in self.inventory.qualifier_names(w) if n in defaults]
            if listed:
                word = span.words[0] if len(span.words) == 1 else ""
                qualifiers += [Qualifier(name, word=word) for name in listed]
            elif at != head and span.strong and not span.names("role"):
                others = [name for name in span.names("kind") if name not in kinds]
                if others and span.words != ("current",):
                    qualifiers.append(Qualifier(others[0]))
            elif not span.concepts and (span.words[0] not in _STOP or _is_index_letter(spans, at)):
                word = span.words[0]
                if len(word) == 1 or word[0].isdigit():
                    numbers += _indices(word, spans[at - 1].words[-1] if at else "")
                else:
                    known = len(word) > 2 and self._known(word)  # two letters are mostly short for something
                    qualifiers.append(Qualifier(word, KNOWN if known else UNKNOWN, word=word))
        strong = head >= 0 and spans[head].strong
        return _Part(
            kinds=kinds,
            qualifiers=tuple(qualifiers),
            role=(plain or roles or [""])[-1],
            numbers=tuple(numbers),
            strong=strong,
            has_content=strong or any(len(q.name) > 2 for q in qualifiers),
        )


def _is_index_letter(spans: Sequence[_Span], at: int) -> bool:
    """Return whether a letter that could be an article is an index: at the end, or after a numbered word."""
    behind = at and spans[at - 1].words[-1] in NUMBERED
    return len(spans[at].words[0]) == 1 and bool(behind or (at and at == len(spans) - 1))


def _indices(word: str, before: str) -> list[str]:
    """Return the spellings of an index: phase a is phase 1.

    >>> _indices("b", "phase"), _indices("2", "phase"), _indices("b", "gate")
    (['b', '2'], ['2', 'b', 's', 'v'], ['b'])
    """
    if before != "phase":
        return [word]
    return [word, PHASES[word]] if word in PHASES else [word, *(a for a, number in PHASES.items() if number == word)]


def _head(spans: Sequence[_Span]) -> int:
    """Return the index of the span that names the kind; -1 if there is none."""
    after = next((at for at, span in enumerate(spans) if at and span.preposition), len(spans))
    orders = (range(after - 1, -1, -1), range(after, len(spans)))
    head = next((at for order in orders for at in order if spans[at].strong), -1)
    if head < 0:
        return next((at for at in orders[0] if spans[at].names("kind")), -1)
    if all("state" in c.values for c in spans[head].concepts if c.sort == "kind"):
        # How often something was so is a count, not a state.
        return next((at for at in range(len(spans) - 1, -1, -1) if "count" in spans[at].names("kind")), head)
    return head
