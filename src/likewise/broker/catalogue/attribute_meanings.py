"""What an attribute is taken for, and how probably: corrected by a person, else read from its name, unit and kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from likewise.api.sources import TakenFor
from likewise.broker.catalogue.observations import Reading, Word
from likewise.broker.tenants.source_registry import KnownSources
from likewise.broker.tenants.tenant import Tenant
from likewise.model.text import fold
from likewise.semantics.concepts.facets import UNKNOWN, Facets
from likewise.semantics.concepts.wording import facets_in_words
from likewise.semantics.enrichment.corrections import Correction
from likewise.semantics.measure import Term, ValueKind
from likewise.units import any_unit

KEPT: Final = 20_000  # understandings kept: a stream's words are few
KINDS: Final = ((1, "text"), (2, "number"), (4, "boolean"), (8, "number"))


def kinds_of(bits: int) -> tuple[str, ...]:
    """The kinds of values that were seen.

    >>> kinds_of(9)
    ('text', 'number')
    """
    return tuple(dict.fromkeys(name for bit, name in KINDS if bits & bit))


def seen_term(attribute: str, unit: str, bits: int) -> Term:
    """The term of an attribute as it was seen."""
    found = any_unit(unit) if unit else None
    kinds = kinds_of(bits)
    kind: ValueKind = kinds[0] if len(kinds) == 1 else ""  # type: ignore[assignment]
    return Term(attribute, "attribute", (), "" if found is None else found.symbol, kind)


def concept_of(facets: Facets) -> str:
    """What a name is taken for, in few words; '' if it says nothing that is known.

    >>> from likewise.semantics.concepts.facets import Qualifier
    >>> concept_of(Facets(("temperature",), (Qualifier("water"),), role="setpoint"))
    'water temperature setpoint'
    """
    if not facets.kinds:
        return ""
    which = [each.name for each in facets.qualifiers if not each.outer and each.standing != UNKNOWN]
    role = [facets.role] if facets.role and facets.role not in (*facets.kinds, "instantaneous") else []
    return " ".join(dict.fromkeys([*which, facets.kinds[0], *role]))


class Understanding:
    """What a tenant's attributes are taken for; kept as long as corrections and feedback stay."""

    def __init__(self, tenant: Tenant, reads: bool = True) -> None:
        self._tenant = tenant
        self._reads = reads  # whether names are read at all: that takes a space
        self._kept: dict[Term, TakenFor] = {}
        self._judged = -1

    def of(self, attributes: Iterable[Reading | Word], source: str = "", model: str = "") -> list[TakenFor]:
        """What each is taken for, of a source or of whoever sends it."""
        wanted = list(attributes)
        terms = [seen_term(each.attribute, each.unit, each.kinds) for each in wanted]
        self._read([term for term in terms if term not in self._kept])
        found = []
        for term in terms:
            corrected = correction_of(self._tenant.known, term.text, source, model)
            if corrected is None:
                found.append(self._kept[term])
                continue
            number, said = corrected
            found.append(TakenFor(said.means or self._kept[term].means, 1.0, str(said), "corrected", number))
        return found

    def _read(self, terms: list[Term]) -> None:
        if not self._reads:
            self._kept.update(dict.fromkeys(terms, TakenFor(words="the profile `small` reads no names")))
            return
        interpretation = self._tenant.stateless.interpretation
        judged = len(interpretation.feedback)
        if judged != self._judged or len(self._kept) > KEPT:
            terms = list(dict.fromkeys((*terms, *(self._kept if len(self._kept) <= KEPT else ()))))
            self._kept, self._judged = {}, judged
        measure: Any = interpretation.measure
        facets = getattr(getattr(measure, "measure", measure), "facets", None)
        if facets is None:
            self._kept.update(dict.fromkeys(terms, TakenFor(words="this measure reads no names")))
            return
        curve = interpretation.curve("conditions")
        for term in terms:
            said: Facets = facets(term)
            means = concept_of(said)
            if not means:
                self._kept[term] = TakenFor(words=facets_in_words(said))
                continue
            asked = Term(means, "attribute", (), term.unit, term.kind)
            likely = curve.of(float(measure.matrix([asked], [term])[0, 0])) / len(said.kinds)
            self._kept[term] = TakenFor(means, round(likely, 3), facets_in_words(said))


def correction_of(known: KnownSources, attribute: str, source: str, model: str) -> tuple[int, Correction] | None:
    """What a person said about an attribute: of the source, else of its model, else of everybody."""
    name = fold(attribute)
    best: tuple[int, int, Correction] | None = None
    for number, each in known.corrected(name):
        rank = {"attribute": 0, "model": 1, "source": 2}[each.of]
        fits = (True, bool(model) and fold(each.name) == fold(model), each.name == source)[rank]
        if fits and (best is None or rank > best[0]):
            best = rank, number, each
    return None if best is None else best[1:]
