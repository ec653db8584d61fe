"""The registry of a tenant's sources: announcements in force, corrections, and pinned sources.

All of it follows from the log, and is changed by the thread that applies commands; others look at what is there.
"""

from __future__ import annotations

from likewise.broker.log.catalogue.records import StoredAnnouncement
from likewise.broker.tenants.identities import SourceIdentities
from likewise.errors import UnknownId
from likewise.model.text import fold
from likewise.semantics.enrichment.corrections import CorrectedAnnotations, Correction, correction_rows
from likewise.semantics.enrichment.table import AnnotationSource


class SourceRegistry:
    """Announcements by source, corrections by number; `version` grows with every change of either.

    >>> from likewise.semantics.enrichment.table import NO_ANNOTATIONS
    >>> known = SourceRegistry(CorrectedAnnotations(NO_ANNOTATIONS))
    >>> known.correct(7, Correction("temp1", means="air temperature"))
    []
    >>> known.correct(9, Correction("Temp1", means="water temperature")), list(known.corrections)
    ([7], [9])
    """

    def __init__(self, annotations: AnnotationSource) -> None:
        self.announcements: dict[str, StoredAnnouncement] = {}
        self.corrections: dict[int, Correction] = {}
        self.pinned: set[str] = set()
        self.routes: dict[str, str] = {}  # by source: the bridge or the edge that brings it
        self.identities = SourceIdentities()
        self.version = 0
        self._annotations = annotations
        self._by_attribute: dict[str, list[tuple[int, Correction]]] | None = None

    def announcement(self, source: str) -> StoredAnnouncement:
        """Return a source's announcement."""
        stored = self.announcements.get(source)
        if stored is None:
            raise UnknownId(source, remedy="it has announced nothing: PUT /v1/sources/{id}/announcement")
        return stored

    def announce(self, stored: StoredAnnouncement) -> None:
        """Hold an announcement, in place of the source's earlier one."""
        before = self.announcements.get(stored.announcement.source)
        self.announcements[stored.announcement.source] = stored
        if before is None or not before.announcement.same_as(stored.announcement):
            self._changed(of_models=before is None or before.announcement.model != stored.announcement.model)

    def revoke(self, source: str) -> bool:
        """Let go of a source's announcement; whether there was one."""
        if self.announcements.pop(source, None) is None:
            return False
        self._changed(of_models=True)
        return True

    def correct(self, number: int, correction: Correction) -> list[int]:
        """Hold a correction; the numbers of those it takes the place of."""
        earlier = [each for each, existing in self.corrections.items() if existing.about == correction.about]
        for each in earlier:
            del self.corrections[each]
        self.corrections[number] = correction
        self._changed(of_models=True)
        return earlier

    def take_back(self, number: int) -> Correction:
        """Let go of a correction."""
        correction = self.corrections.pop(number, None)
        if correction is None:
            raise UnknownId(f"correction {number}")
        self._changed(of_models=True)
        return correction

    def corrected(self, attribute: str) -> list[tuple[int, Correction]]:
        """Return the corrections of an attribute, by its folded name, with their numbers."""
        if self._by_attribute is None:
            by_attribute: dict[str, list[tuple[int, Correction]]] = {}
            for number, each in list(self.corrections.items()):
                by_attribute.setdefault(fold(each.attribute), []).append((number, each))
            self._by_attribute = by_attribute
        return self._by_attribute.get(attribute, [])

    def corrections_of(self, source: str) -> list[Correction]:
        """Return what people corrected of one source alone."""
        return [each for each in list(self.corrections.values()) if each.of == "source" and each.name == source]

    def over(self, now: int) -> list[str]:
        """Return the sources whose lease is over."""
        return [source for source, stored in list(self.announcements.items()) if stored.ends <= now]

    def _changed(self, *, of_models: bool) -> None:
        self.version += 1
        self._by_attribute = None
        if not of_models or not isinstance(self._annotations, CorrectedAnnotations):
            return
        if not self.corrections:
            self._annotations.set_corrections(())
            return
        models: dict[str, list[str]] = {}
        model_names = {fold(each.name) for each in self.corrections.values() if each.of == "model"}
        if model_names:
            for source, stored in self.announcements.items():
                if (model := fold(stored.announcement.model)) in model_names:
                    models.setdefault(model, []).append(source)
        self._annotations.set_corrections(correction_rows(self.corrections, models))
