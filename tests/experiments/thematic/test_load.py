"""The thematic load: seeds, expansion, subscriptions and relevance."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.language import parse
from likewise_experiments.thematic.expansion import expand
from likewise_experiments.thematic.load import (
    ThematicLoad,
    predicates_of,
    relaxed_subscriptions,
    thematic_load,
    write_load,
)
from likewise_experiments.thematic.load_arrays import load_arrays
from likewise_experiments.thematic.seed_events import seed_events
from tests.experiments.small_thesaurus import small_thesaurus


@pytest.fixture(scope="module")
def load() -> ThematicLoad:
    """A small load."""
    return thematic_load(small_thesaurus(), seeds=30, events=300, subscriptions=20)


def test_seed_events_are_distinct_and_have_at_most_ten_tuples() -> None:
    """166 by default, as in the paper."""
    seeds = seed_events()
    assert len({e.tuples for e in seeds}) == len(seeds) == 166
    assert max(len(e.tuples) for e in seeds) <= 10


def test_the_same_seed_gives_the_same_load() -> None:
    """And another seed another."""
    one, same, other = (
        thematic_load(small_thesaurus(), seeds=9, events=40, subscriptions=5, seed=s) for s in (1, 1, 2)
    )
    assert one.events == same.events
    assert one.subscriptions == same.subscriptions
    assert one.events != other.events


def test_every_event_differs_from_its_seed_by_thesaurus_terms_alone(load: ThematicLoad) -> None:
    """Each part is the seed's or an alternative of it; at least one is not the seed's."""
    thesaurus = small_thesaurus()
    for event, number in zip(load.events, load.lineage.tolist(), strict=True):
        changed = 0
        for new, old in zip(event.tuples, load.seeds[number].tuples, strict=True):
            for a, b in ((new.attribute, old.attribute), (str(new.value), str(old.value))):
                assert a == b or a in {x.text for x in thesaurus.alternatives(b)}
                changed += a != b
        assert changed
    assert len({e.tuples for e in load.events}) > 0.9 * len(load.events)


def test_relevance_is_by_lineage_and_the_wider_reading_contains_it(load: ThematicLoad) -> None:
    """Checked pair by pair against the definition."""
    for row, subscription in enumerate(load.subscriptions):
        wanted = {(p.attribute, p.value) for p in predicates_of(subscription)}
        for column, number in enumerate(load.lineage.tolist()):
            held = {(t.attribute, t.value) for t in load.seeds[number].tuples}
            assert load.relevant[row, column] == (wanted <= held)
    assert not (load.relevant & ~load.wider).any()
    assert load.relevant.any(axis=1).all()


def test_subscriptions_are_fully_relaxed_and_distinct() -> None:
    """100 % approximation; more can be made than the paper has."""
    made = relaxed_subscriptions(seed_events(), 2_000)
    assert all(p.attribute_relaxed and p.value_relaxed for s in made for p in predicates_of(s))
    assert len({predicates_of(s) for s in made}) == 2_000


def test_asking_for_more_than_the_seeds_give_is_refused() -> None:
    """With the number that could be made."""
    with pytest.raises(InputError, match="yields"):
        expand(seed_events(2), small_thesaurus(), 100_000)
    with pytest.raises(InputError, match="yield"):
        relaxed_subscriptions(seed_events(1), 1_000_000)


def test_every_step_is_a_file_one_can_read(load: ThematicLoad, tmp_path: Path) -> None:
    """JSON lines; subscriptions in the language of subscriptions."""
    write_load(load, tmp_path)
    lines = {p.name: [json.loads(line) for line in p.read_text().splitlines()] for p in tmp_path.iterdir()}
    assert {name: len(rows) for name, rows in lines.items()} == {
        "seeds.jsonl": 30,
        "events.jsonl": 300,
        "subscriptions.jsonl": 20,
        "relevance.jsonl": 20,
    }
    first = lines["subscriptions.jsonl"][0]
    assert parse(first["text"], id=first["id"]) == load.subscriptions[0]
    assert len(lines["relevance.jsonl"][0]["by_lineage"]) == int(load.relevant[0].sum())


def test_the_arrays_hold_the_load(load: ThematicLoad) -> None:
    """Following the numbers back gives the terms of every event and subscription."""
    arrays = load_arrays(load.subscriptions, load.events)
    for row, event in zip(arrays.events, load.events, strict=True):
        pairs = [arrays.tuples[n] for n in row if n >= 0]
        terms = [(arrays.seen_attributes[a].text, arrays.seen_values[v].text) for a, v in pairs]
        assert terms == [(t.attribute, t.value) for t in event.tuples]
    for row, subscription in zip(arrays.subscriptions, load.subscriptions, strict=True):
        pairs = [arrays.predicates[n] for n in row if n >= 0]
        terms = [(arrays.asked_attributes[a].text, arrays.asked_values[v].text) for a, v in pairs]
        assert terms == [(p.attribute, p.value) for p in predicates_of(subscription)]
    assert isinstance(arrays.events, np.ndarray)
