"""Relatedness of asked with offered terms, asked of the measure once for each pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from likewise.semantics.interpretation import Interpretation
from likewise.semantics.measure import Measure, Term, opposed


class TermScores:
    """What the measure says of pairs; the measure is opened when the first pair needs it."""

    def __init__(self, interpretation: Interpretation) -> None:
        self._interpretation = interpretation
        self._known: dict[Term, dict[Term, float]] = {}

    @property
    def measure(self) -> Measure:
        """The measure, with feedback laid over it."""
        return self._interpretation.measure

    def relate(self, asked: Iterable[Term], seen: Sequence[Term]) -> None:
        """Ask for many pairs at once."""
        wanted = list(dict.fromkeys(asked))
        for role in ("attribute", "value"):
            own = [term for term in dict.fromkeys(seen) if term.role == role]
            rows = [t for t in wanted if t.role == role and any(s not in self._known.get(t, ()) for s in own)]
            if rows and own:
                for term, numbers in zip(rows, self.measure.matrix(rows, own).tolist(), strict=True):
                    self._known.setdefault(term, {}).update(zip(own, numbers, strict=True))

    def of(self, asked: Term, seen: Term) -> float:
        """The relatedness of a pair."""
        found = self._known.get(asked, {}).get(seen)
        if found is None:
            self.relate([asked], [seen])
            found = self._known[asked][seen]
        return found

    def opposed(self, asked: str, seen: str) -> bool:
        """Whether being true of one name is being false of the other."""
        return opposed(self.measure, asked, seen)

    def forget(self) -> None:
        """Ask anew, since feedback changed."""
        self._known.clear()
