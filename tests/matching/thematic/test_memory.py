"""Names that never repeat: what is kept about them stays within its bound, however many come."""

from __future__ import annotations

from functools import _lru_cache_wrapper
from types import ModuleType

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings
from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.matching.thematic.engine import ThematicEngine
from likewise.semantics.measures.names import quantities
from likewise.semantics.text import identifiers
from likewise.testing import TableMeasure

LIMIT = 200_000


def engine_with(limit: int) -> ThematicEngine:
    engine = ThematicEngine(TableMeasure({("laptop", "computer"): 0.8}), cache_bytes=limit)
    for n, text in enumerate(("{device~ = laptop~}", "{temperature~ > 20}", "{room = kitchen~}")):
        engine.add(n, lw.parse(text, id=str(n)), 0)
    return engine


def test_what_an_engine_keeps_stays_within_its_bytes_while_names_never_repeat() -> None:
    """Rows, lists and the numbers they go by; a name that keeps coming is found all the while."""
    engine = engine_with(LIMIT)
    most = listed = 0
    for n in range(3_000):
        event = lw.event({f"sensor {n}": 1.5, "device": f"gadget {n}", f"k{n}": "laptop", "tag": ["computer", f"t{n}"]})
        engine.find(event, 0)
        assert engine.find(lw.event({"device": "computer"}), 0).ordinals.tolist() == [0]
        most, listed = max(most, engine.lists.bytes), max(listed, len(engine.lists))
    assert engine.lists.dropped > 0
    assert most <= LIMIT
    assert listed < 400
    assert sum(map(len, engine._seen._known.values())) == len(engine.lists)
    assert len(engine._seen._themes) == len(engine._seen._known)


def test_themes_that_never_repeat_are_forgotten_with_their_lists() -> None:
    """An event's tags are text from outside, too."""
    engine = engine_with(LIMIT)
    for n in range(2_000):
        engine.find(lw.event({"device": "computer"}, themes=[f"theme {n}"]), 0)
    assert len(engine._seen._known) < 400
    assert len(engine._seen._themes) == len(engine._seen._known)


def caches(module: ModuleType) -> list[_lru_cache_wrapper[object]]:
    """The caches at the top of a module."""
    return [each for each in vars(module).values() if isinstance(each, _lru_cache_wrapper)]


def held_caches(thing: object, seen: set[int], depth: int = 0) -> list[_lru_cache_wrapper[object]]:
    """The caches that an object holds, or that what it holds does."""
    if id(thing) in seen or depth > 6 or not type(thing).__module__.startswith(("likewise", "functools")):
        return []
    seen.add(id(thing))
    if isinstance(thing, _lru_cache_wrapper):
        return [thing]
    held = vars(thing).values() if hasattr(thing, "__dict__") else ()
    return [found for each in held for found in held_caches(each, seen, depth + 1)]


def test_every_cache_of_names_is_bounded() -> None:
    """Those of modules, and those that the default measure of the space that ships holds."""
    measure = lw.Matcher().interpretation.measure
    found = [*caches(identifiers), *caches(quantities), *held_caches(measure, set())]
    assert len(found) >= 6
    assert all((each.cache_parameters()["maxsize"] or NAME_CACHE_ENTRIES + 1) <= NAME_CACHE_ENTRIES for each in found)


def test_a_broker_bounds_what_each_tenant_keeps() -> None:
    """As its configuration says."""
    with Broker(None, Config(matching=MatchingSettings(cache_bytes=LIMIT))) as broker:
        assert broker.tenant("t").stateless.interpretation.cache_bytes == LIMIT
