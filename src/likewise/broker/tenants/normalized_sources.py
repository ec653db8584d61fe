"""What a normaliser remembers of sources: retained topics, names that several readings share, open questions.

It is saved with the position that the normaliser has reached. Retained topics are saved before the messages that they
are of, so that a message is retained under its common name, too, whatever stops in between.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from likewise.api.sources import UncertainAttribute
from likewise.broker.log.edges.uplink import read_uplink, store_uplink
from likewise.broker.log.tables import StoreTables

MOST_RETAINED: Final = 20_000  # topics
MOST_UNCERTAIN: Final = 1_000  # attributes, the newest
MOST_SHARED: Final = 20_000  # names that several readings of a source share
MOST_PAYLOADS: Final = 5_000  # topics whose newest payload is remembered
LARGEST_PAYLOAD: Final = 8_192  # bytes of one that is
RETAINED, SHARED, UNCERTAIN = "retained topics", "shared names", "uncertain attributes"
ANNOUNCED, ADVISED = "announced to Home Assistant", "advice"
MOST_ADVISED: Final = 10_000  # attributes that an adviser was asked about


class _Topics(msgspec.Struct, frozen=True):
    topics: list[str]


class _Shared(msgspec.Struct, frozen=True):
    names: dict[str, list[str]]


class _Announced(msgspec.Struct, frozen=True):
    topics: dict[str, tuple[str, str]]


class _Advice(msgspec.Struct, frozen=True):
    attributes: list[tuple[str, str, str, float]]


class _Uncertain(msgspec.Struct, frozen=True):
    attributes: list[UncertainAttribute]


class NormalizedSources:
    """The memory of a tenant's normaliser. The bridge, the normaliser and requests use it from their threads.

    >>> known = NormalizedSources()
    >>> [known.distinct_name("s", "temperature", attribute) for attribute in ("t1", "t2", "t1")]
    ['temperature', 'temperature_2', 'temperature']
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix  # of every topic that the normaliser publishes to
        self.retained: set[str] = set()
        self._shared: dict[str, list[str]] = {}  # the attributes that share a name of a source, in their order
        self._uncertain: dict[tuple[str, str], UncertainAttribute] = {}
        self._announced: dict[str, tuple[str, str]] = {}  # by source and attribute: topic and digest
        self._advice: dict[tuple[str, str], tuple[str, float]] = {}
        self._payloads: OrderedDict[str, bytes] | None = None  # by topic, where somebody needs them
        self.discovered: list[Callable[[str], bool]] = []  # of bridges: whether a topic's device announces itself
        self._changed: set[str] = set()
        self._lock = threading.Lock()

    def load(self, tables: StoreTables, tenant: int) -> None:
        """Read what was saved."""
        if (topics := read_uplink(tables, tenant, RETAINED, _Topics)) is not None:
            self.retained = set(topics.topics)
        if (shared := read_uplink(tables, tenant, SHARED, _Shared)) is not None:
            self._shared = shared.names
        if (uncertain := read_uplink(tables, tenant, UNCERTAIN, _Uncertain)) is not None:
            self._uncertain = {(each.model or each.source, each.attribute): each for each in uncertain.attributes}

        if (announced := read_uplink(tables, tenant, ANNOUNCED, _Announced)) is not None:
            self._announced = announced.topics

        if (advice := read_uplink(tables, tenant, ADVISED, _Advice)) is not None:
            self._advice = {(of, attribute): (choice, sure) for of, attribute, choice, sure in advice.attributes}

    def save(self, tables: StoreTables, tenant: int) -> None:
        """Save what changed since; within a commit."""
        with self._lock:
            changed, self._changed = self._changed, set()
            if SHARED in changed:
                store_uplink(tables, tenant, SHARED, _Shared(self._shared))
            if UNCERTAIN in changed:
                store_uplink(tables, tenant, UNCERTAIN, _Uncertain(list(self._uncertain.values())))
            if ADVISED in changed:
                store_uplink(tables, tenant, ADVISED, _Advice([(*key, *said) for key, said in self._advice.items()]))
            if ANNOUNCED in changed:
                store_uplink(tables, tenant, ANNOUNCED, _Announced(self._announced))

    @property
    def is_changed(self) -> bool:
        """Whether something is to be saved."""
        return bool(self._changed)

    def learn_retained(self, topics: Iterable[str]) -> bool:
        """Note topics whose messages are retained; return whether that is to be saved."""
        fresh = [topic for topic in topics if topic not in self.retained]
        room = MOST_RETAINED - len(self.retained)
        self.retained.update(fresh[: max(0, room)])
        return bool(fresh) and room > 0

    def save_retained(self, tables: StoreTables, tenant: int) -> None:
        """Save the retained topics; within a commit."""
        store_uplink(tables, tenant, RETAINED, _Topics(sorted(self.retained)))

    def distinct_name(self, source: str, name: str, attribute: str) -> str:
        """Return the name of an attribute among those of its source that share it: the first has the name alone."""
        key = f"{source}\n{name}"
        attributes = self._shared.get(key)
        if attributes is None:
            attributes = self._shared.setdefault(key, [])
        if attribute not in attributes:
            if len(self._shared) > MOST_SHARED:
                del self._shared[next(iter(self._shared))]
            attributes.append(attribute)
            self._changed.add(SHARED)
        place = attributes.index(attribute)
        return name if place == 0 else f"{name}_{place + 1}"

    # -- Home Assistant ---------------------------------------------------------------------------

    def remember_payloads(self) -> None:
        """Remember the newest payload of each topic from now on."""
        self._payloads = OrderedDict()

    def note_payload(self, topic: str, payload: bytes) -> None:
        """Remember a payload, if anybody needs it."""
        if self._payloads is not None and len(payload) <= LARGEST_PAYLOAD:
            self._payloads[topic] = payload
            self._payloads.move_to_end(topic)
            if len(self._payloads) > MOST_PAYLOADS:
                self._payloads.popitem(last=False)

    def payload_of(self, topic: str) -> bytes | None:
        """Return the newest payload of a topic; None if it is not remembered."""
        return None if self._payloads is None else self._payloads.get(topic)

    def is_discovered(self, topic: str) -> bool:
        """Return whether the device of a topic announces itself to Home Assistant."""
        return any(knows(topic) for knows in self.discovered)

    def announce(self, key: str, topic: str, digest: str) -> list[str]:
        """Note a configuration; return the topics to publish to: its own if it is new, that of before if it is gone."""
        before = self._announced.get(key)
        if before == (topic, digest):
            return []
        self._announced[key] = topic, digest
        self._changed.add(ANNOUNCED)
        others = {each for each, _ in self._announced.values()}
        return [before[0], topic] if before is not None and before[0] not in others else [topic]

    def is_announced(self, key: str) -> bool:
        """Return whether there is a configuration of a reading."""
        return key in self._announced

    def announced_keys(self, prefix: str) -> set[str]:
        """Return the keys of configurations that begin with a prefix."""
        return {key for key in self._announced if key.startswith(prefix)}

    def forget_announced(self, source: str) -> list[str]:
        """Forget the configurations of a source; return their topics."""
        keys = [key for key in self._announced if key.partition("\n")[0] == source]
        self._changed.update([ANNOUNCED] * bool(keys))
        return list(dict.fromkeys(self._announced.pop(key)[0] for key in keys))

    # -- what needs review ------------------------------------------------------------------------

    def note_uncertain(self, each: UncertainAttribute) -> None:
        """Keep an open question, in place of the same one of before."""
        key = (each.model or each.source, each.attribute)
        with self._lock:
            before = self._uncertain.pop(key, None)
            times = 1 if before is None else before.times + 1
            self._uncertain[key] = msgspec.structs.replace(each, times=times)
            if len(self._uncertain) > MOST_UNCERTAIN:
                del self._uncertain[next(iter(self._uncertain))]
            if before is None or before.why != each.why:
                self._changed.add(UNCERTAIN)

    def close_question(self, model_or_source: str, attribute: str) -> None:
        """Forget an open question: its readings are certain now."""
        if (model_or_source, attribute) in self._uncertain:
            with self._lock:
                self._uncertain.pop((model_or_source, attribute), None)
                self._changed.add(UNCERTAIN)

    def uncertain(self) -> list[UncertainAttribute]:
        """Return the open questions, those met most often first."""
        with self._lock:
            found = sorted(self._uncertain.values(), key=lambda each: -each.times)
        said = [self._advice.get((each.model or each.source, each.attribute), ("", 0.0)) for each in found]
        return [
            msgspec.structs.replace(each, advice=advice, advised=sure) if advice else each
            for each, (advice, sure) in zip(found, said, strict=True)
        ]

    def is_advised(self, each: UncertainAttribute) -> bool:
        """Return whether an adviser was asked about an attribute."""
        return (each.model or each.source, each.attribute) in self._advice

    def note_advice(self, each: UncertainAttribute, choice: str, probability: float) -> None:
        """Keep what an adviser said of an attribute, '' if nothing; it is not asked again."""
        with self._lock:
            self._advice[each.model or each.source, each.attribute] = choice, probability
            if len(self._advice) > MOST_ADVISED:
                del self._advice[next(iter(self._advice))]
            self._changed.add(ADVISED)
