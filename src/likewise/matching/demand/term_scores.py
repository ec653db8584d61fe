"""Relatedness of asked with offered terms, asked of the measure once for each pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from likewise.semantics.interpretation import Interpretation
from likewise.semantics.measure import Measure, Term, opposed


class TermScores:
    """Scores of pairs of terms; the measure is opened when the first pair needs it."""

    def __init__(self, interpretation: Interpretation) -> None:
        self._interpretation = interpretation
        self._known: dict[Term, dict[Term, float]] = {}

    @property
    def measure(self) -> Measure:
        """The measure, with feedback laid over it."""
        return self._interpretation.measure

    def relate(self, terms: Iterable[Term], event_terms: Sequence[Term]) -> None:
        """Ask for many pairs at once."""
        unique_terms = list(dict.fromkeys(terms))
        for role in ("attribute", "value"):
            terms_of_role = [term for term in dict.fromkeys(event_terms) if term.role == role]
            rows = [
                t
                for t in unique_terms
                if t.role == role and any(s not in self._known.get(t, ()) for s in terms_of_role)
            ]
            if rows and terms_of_role:
                for term, numbers in zip(rows, self.measure.matrix(rows, terms_of_role).tolist(), strict=True):
                    self._known.setdefault(term, {}).update(zip(terms_of_role, numbers, strict=True))

    def of(self, term: Term, event_term: Term) -> float:
        """The relatedness of a pair."""
        cached = self._known.get(term, {}).get(event_term)
        if cached is None:
            self.relate([term], [event_term])
            cached = self._known[term][event_term]
        return cached

    def opposed(self, name: str, event_name: str) -> bool:
        """Return whether being true of one name is being false of the other."""
        return opposed(self.measure, name, event_name)

    def forget(self) -> None:
        """Ask anew, since feedback changed."""
        self._known.clear()
