"""Interpret observed attributes: by a correction, else by name, unit and kind, with a probability."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from likewise.api.sources import AttributeInterpretation
from likewise.broker.catalogue.observations import ObservedAttribute, ObservedName
from likewise.broker.tenants.source_registry import SourceRegistry
from likewise.broker.tenants.tenant import Tenant
from likewise.model.text import fold
from likewise.semantics.concepts.explanations import describe_facets
from likewise.semantics.concepts.facets import UNKNOWN, Facets
from likewise.semantics.enrichment.corrections import Correction
from likewise.semantics.measure import Term, ValueKind
from likewise.units import any_unit

CACHED_MEANINGS: Final = 20_000  # understandings kept: a stream's words are few
KINDS: Final = ((1, "text"), (2, "number"), (4, "boolean"), (8, "number"))


def kinds_of(bits: int) -> tuple[str, ...]:
    """Return the kinds of values in a bit set.

    >>> kinds_of(9)
    ('text', 'number')
    """
    return tuple(dict.fromkeys(name for bit, name in KINDS if bits & bit))


def observed_term(attribute: str, unit: str, bits: int) -> Term:
    """Return the term of an observed attribute."""
    known_unit = any_unit(unit) if unit else None
    kinds = kinds_of(bits)
    kind: ValueKind = kinds[0] if len(kinds) == 1 else ""  # type: ignore[assignment]
    return Term(attribute, "attribute", (), "" if known_unit is None else known_unit.symbol, kind)


def concept_of(facets: Facets) -> str:
    """Return the concept of a parsed name in a few words; '' if nothing in it is known.

    >>> from likewise.semantics.concepts.facets import Qualifier
    >>> concept_of(Facets(("temperature",), (Qualifier("water"),), role="setpoint"))
    'water temperature setpoint'
    """
    if not facets.kinds:
        return ""
    which = [each.name for each in facets.qualifiers if not each.is_outer and each.source != UNKNOWN]
    role = [facets.role] if facets.role and facets.role not in (*facets.kinds, "instantaneous") else []
    return " ".join(dict.fromkeys([*which, facets.kinds[0], *role]))


class AttributeMeanings:
    """Caches the interpretation of a tenant's attributes as long as corrections and feedback stay the same."""

    def __init__(self, tenant: Tenant, reads: bool = True) -> None:
        self._tenant = tenant
        self._reads = reads  # whether names are read at all: that takes a space
        self._cached: dict[Term, AttributeInterpretation] = {}
        self._judged = -1

    def of(
        self, attributes: Iterable[ObservedAttribute | ObservedName], source: str = "", model: str = ""
    ) -> list[AttributeInterpretation]:
        """Return the interpretation of each attribute, of one source or of any."""
        observed = list(attributes)
        terms = [observed_term(each.attribute, each.unit, each.kinds) for each in observed]
        self._read([term for term in terms if term not in self._cached])
        meanings = []
        for term in terms:
            corrected = correction_of(self._tenant.sources, term.text, source, model)
            if corrected is None:
                meanings.append(self._cached[term])
                continue
            number, correction = corrected
            meanings.append(
                AttributeInterpretation(
                    correction.means or self._cached[term].means, 1.0, str(correction), "corrected", number
                )
            )
        return meanings

    def _read(self, terms: list[Term]) -> None:
        if not self._reads:
            self._cached.update(
                dict.fromkeys(terms, AttributeInterpretation(words="the profile `small` reads no names"))
            )
            return
        interpretation = self._tenant.stateless.interpretation
        judged = len(interpretation.feedback)
        if judged != self._judged or len(self._cached) > CACHED_MEANINGS:
            terms = list(dict.fromkeys((*terms, *(self._cached if len(self._cached) <= CACHED_MEANINGS else ()))))
            self._cached, self._judged = {}, judged
        measure: Any = interpretation.measure
        facets = getattr(getattr(measure, "measure", measure), "facets", None)
        if facets is None:
            self._cached.update(dict.fromkeys(terms, AttributeInterpretation(words="this measure reads no names")))
            return
        curve = interpretation.probability_curve("conditions")
        for term in terms:
            parsed: Facets = facets(term)
            means = concept_of(parsed)
            if not means:
                self._cached[term] = AttributeInterpretation(words=describe_facets(parsed))
                continue
            concept = Term(means, "attribute", (), term.unit, term.kind)
            likely = curve.of(float(measure.matrix([concept], [term])[0, 0])) / len(parsed.kinds)
            self._cached[term] = AttributeInterpretation(means, round(likely, 3), describe_facets(parsed))


def correction_of(known: SourceRegistry, attribute: str, source: str, model: str) -> tuple[int, Correction] | None:
    """Return the correction of an attribute: of the source, else of its model, else of all sources."""
    name = fold(attribute)
    best: tuple[int, int, Correction] | None = None
    for number, each in known.corrected(name):
        rank = {"attribute": 0, "model": 1, "source": 2}[each.of]
        fits = (True, bool(model) and fold(each.name) == fold(model), each.name == source)[rank]
        if fits and (best is None or rank > best[0]):
            best = rank, number, each
    return None if best is None else best[1:]
