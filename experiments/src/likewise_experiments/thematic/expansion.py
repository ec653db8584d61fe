"""Semantic expansion: many events that say what the seed events say, in other words (section 5.2.2)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from likewise.errors import InputError
from likewise.model import Event, EventTuple
from likewise_experiments.thematic.thesaurus import Alternative, Thesaurus

TRIES = 60  # draws without a new version before a seed counts as exhausted


def expand(seeds: Sequence[Event], thesaurus: Thesaurus, count: int, seed: int = 0) -> list[tuple[Event, int]]:
    """Distinct expanded events, each with the number of its seed; every seed gets its share.

    Of the terms that have alternatives, one or more are replaced, how many and which at random; by a synonym or
    by a related term with equal chances where there are both. What a seed cannot give, the others give.

    >>> from likewise_experiments.thematic.thesaurus import ThesaurusEntry
    >>> small = Thesaurus("small", [ThesaurusEntry(("Ireland", "Eire"), ())], ())
    >>> from likewise.model import event
    >>> [(e.tuples[0].value, n) for e, n in expand([event({"country": "Ireland"})], small, 1)]
    [('Eire', 0)]
    """
    chosen = random.Random(seed)
    sources = [_Source(event, thesaurus, chosen) for event in seeds]
    found: list[list[Event]] = [[] for _ in seeds]
    total = 0
    while total < count:
        before = total
        for number, source in enumerate(sources):
            if total < count and (version := source.draw()) is not None:
                found[number].append(version)
                total += 1
        if total == before:
            raise InputError(
                f"the thesaurus {thesaurus.name!r} yields {total:,} expanded events from {len(seeds)} seeds, "
                f"{count:,} were asked for; ask for fewer or give more seeds"
            )
    listed = [(event, number) for number, events in enumerate(found) for event in events]
    return [(Event(event.tuples, id=f"e{place}"), number) for place, (event, number) in enumerate(listed)]


class _Source:
    """One seed, the terms of it that can be replaced, and the versions made so far."""

    def __init__(self, event: Event, thesaurus: Thesaurus, chosen: random.Random) -> None:
        self._chosen = chosen
        self._parts = [part for t in event.tuples for part in (t.attribute, str(t.value))]
        self._options: dict[int, tuple[list[str], list[str]]] = {}
        for place, part in enumerate(self._parts):
            if found := thesaurus.alternatives(part):
                self._options[place] = (_texts(found, True), _texts(found, False))
        self._made = {tuple(self._parts)}
        self._exhausted = not self._options

    def draw(self) -> Event | None:
        """A version not made before, or None."""
        for _ in range(0 if self._exhausted else TRIES):
            parts = list(self._parts)
            places = sorted(self._options)
            for place in self._chosen.sample(places, self._chosen.randint(1, len(places))):
                synonyms, related = self._options[place]
                either = synonyms if not related or (synonyms and self._chosen.random() < 0.5) else related
                parts[place] = self._chosen.choice(either)
            if tuple(parts) not in self._made:
                self._made.add(tuple(parts))
                return Event(tuple(EventTuple(a, v) for a, v in zip(parts[::2], parts[1::2], strict=True)))
        self._exhausted = True
        return None


def _texts(alternatives: Sequence[Alternative], synonym: bool) -> list[str]:
    return [a.text for a in alternatives if a.synonym == synonym]
