"""Track the vocabulary that the hub needs to score events here: names, units and texts.

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
    """The vocabulary of events here, by source and themes."""

    def __init__(self) -> None:
        self._known: dict[Key, dict[tuple[str, str, str], AnnouncedAttribute]] = {}
        self._texts: dict[Key, dict[str, set[str]]] = {}
        self._pending: dict[Key, tuple[dict[tuple[str, str, str], AnnouncedAttribute], dict[str, list[str]]]] = {}

    def observe(self, event: Event, demand: ActiveDemand) -> None:
        """Record the vocabulary of an event that the hub has not scored yet."""
        key: Key = (event.source or "", event.themes)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= SOURCES:
                return
            known = self._known[key] = {}
        text_names = demand.text_attributes(key)
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
            if name[0] in text_names and isinstance(item.value, str):
                texts = self._texts.setdefault(key, {}).setdefault(name[0], set())
                if item.value not in texts and len(texts) < EDGE_TEXTS:
                    texts.add(item.value)
                    self._pending.setdefault(key, ({}, {}))[1].setdefault(item.attribute, []).append(item.value)

    def restore(self, demand: ActiveDemand) -> None:
        """Restore the known vocabulary from a demand: after a restart nothing else is left of it."""
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
        """Return the vocabulary that was not reported yet, and mark it as reported."""
        news, self._pending = self._pending, {}
        return [_vocabulary_frame(key, list(names.values()), texts) for key, (names, texts) in news.items()]

    def snapshot(self) -> list[VocabularyFrame]:
        """Return the whole vocabulary, for a hub that may know none of it."""
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
