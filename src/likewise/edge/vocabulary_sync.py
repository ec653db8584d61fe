"""What the broker above has to be told of events here, so that it can judge them: names, units and texts.

Each is told once. What cannot be told (a unit that nobody knows, too many texts) is never judged, and events that have
it go up whatever is asked for.
"""

from __future__ import annotations

from contextlib import suppress

from likewise.api.edge_frames import VocabularyFrame
from likewise.broker.edge_hub.demands import Key
from likewise.defaults import EDGE_TEXTS, MAX_ANNOUNCED_ATTRIBUTES
from likewise.edge.demand import ActiveDemand
from likewise.errors import LikewiseError
from likewise.model.announcements.announcement import AnnouncedAttribute, AnnouncedKind
from likewise.model.event import Event
from likewise.model.text import fold

SOURCES = 100_000  # of which words are kept


class VocabularyTracker:
    """The words of events here, by source and themes; `news` is what has not been told."""

    def __init__(self) -> None:
        self._known: dict[Key, dict[tuple[str, str, str], AnnouncedAttribute]] = {}
        self._texts: dict[Key, dict[str, set[str]]] = {}
        self._pending: dict[Key, tuple[dict[tuple[str, str, str], AnnouncedAttribute], dict[str, list[str]]]] = {}

    def observe(self, event: Event, demand: ActiveDemand) -> None:
        """An event has something that was not judged: note what of it can be told."""
        key: Key = (event.source or "", event.themes)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= SOURCES:
                return
            known = self._known[key] = {}
        asked = demand.text_attributes(key)
        for item in event.tuples:
            kind: AnnouncedKind = (
                "boolean" if isinstance(item.value, bool) else "text" if isinstance(item.value, str) else "number"
            )
            name = (fold(item.attribute), item.unit, kind)
            if name not in known and len(known) < MAX_ANNOUNCED_ATTRIBUTES:
                try:
                    made = AnnouncedAttribute(item.attribute, item.unit, kind)
                except LikewiseError:
                    continue  # it cannot be told, so it is never judged
                known[name] = made
                self._pending.setdefault(key, ({}, {}))[0][name] = made
            if name[0] in asked and isinstance(item.value, str):
                texts = self._texts.setdefault(key, {}).setdefault(name[0], set())
                if item.value not in texts and len(texts) < EDGE_TEXTS:
                    texts.add(item.value)
                    self._pending.setdefault(key, ({}, {}))[1].setdefault(item.attribute, []).append(item.value)

    def restore(self, demand: ActiveDemand) -> None:
        """Know again what a demand was judged by: after a restart that is all there is."""
        for sent in demand.groups.values():
            for source, themes in sent.sources:
                known = self._known.setdefault((source, themes), {})
                for term in sent.terms:
                    with suppress(LikewiseError):
                        made = AnnouncedAttribute(term.text, term.unit, term.kind)  # type: ignore[arg-type]
                        known.setdefault((fold(term.text), term.unit, term.kind), made)
                for name, texts in sent.texts.items():
                    self._texts.setdefault((source, themes), {}).setdefault(name, set()).update(texts)

    def take_pending(self) -> list[VocabularyFrame]:
        """What has not been told; once."""
        news, self._pending = self._pending, {}
        return [_vocabulary_frame(key, list(names.values()), texts) for key, (names, texts) in news.items()]

    def snapshot(self) -> list[VocabularyFrame]:
        """All of it, for a broker that may know nothing."""
        self._pending = {}
        return [
            _vocabulary_frame(
                key, list(names.values()), {name: sorted(texts) for name, texts in self._texts.get(key, {}).items()}
            )
            for key, names in self._known.items()
        ]

    def __bool__(self) -> bool:
        return bool(self._pending)


def _vocabulary_frame(key: Key, names: list[AnnouncedAttribute], texts: dict[str, list[str]]) -> VocabularyFrame:
    return VocabularyFrame(
        source=key[0], themes=key[1], attributes=tuple(names), texts={n: tuple(each) for n, each in texts.items()}
    )
