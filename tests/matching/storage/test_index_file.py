"""Saved matchers whose built index lies beside the subscriptions: the same answers, or words."""

from __future__ import annotations

import json
import os
import random
import re
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import likewise as lw
from likewise.errors import (
    ArtefactDamaged,
    ArtefactMissing,
    ArtefactVersion,
    DuplicateId,
    IndexRebuilt,
    InputError,
    InvalidSubscription,
    LikewiseError,
)
from likewise.matching.bitmap.engine import BitmapEngine
from likewise.matching.bitmap.layout import BlockShape
from likewise.matching.engine import Addition
from likewise.matching.matcher import Matcher
from likewise.matching.storage.index_file import read_arrays, write_arrays
from likewise.matching.storage.subscriptions import StoredLines, StoredSubscriptions
from likewise.model import Subscription
from likewise.testing.generators import SeededChoice
from likewise.testing.generators import event as random_event
from likewise.testing.generators import subscription as random_subscription

TINY = BlockShape(
    tail_slots=4, tail_rows=64, largest_block=16, clustered=2, merged=2, dense_from=2, cells=4, smallest_cell=1
)
EXTRA = (
    "{n = 9007199254740993}",
    "{n != 4}",
    "{t > 25 degC}",
    "{t <= 300 K}",
    "{when > 2024-05-01}",
    "{on = true}",
    "{name contains cat}",
    "{name starts with a, name ends with z}",
    '{topic under "a/b"}',
    '{topic matches "a/+/c"}',
    '{kind is-a "a"}',
    "{name in (cat, dog, 7)}",
    "{not name = cat, n exists}",
    "{(n = 1 or n = 2)}",
    "{some list (a = 1, b > 2)}",
    "{2024-01-01 <= when <= 2024-12-31}",
    "{n = 1.5, m != cat}",
)
SEEN = (
    {"n": 9007199254740993},
    {"n": 4},
    {"n": 1.5, "m": "dog"},
    {"t": "26 degC"},
    {"t": 20},
    {"when": "2024-06-01"},
    {"on": True},
    {"name": "a cat z"},
    {"name": "dog"},
    {"topic": "a/b/c"},
    {"kind": "a"},
    {"n": 1},
    {"name": 7},
    {"list": [{"a": 1, "b": 3}]},
    {"n": 2, "name": "cat"},
)


def drawn(seed: int, count: int) -> list[Subscription]:
    """Exact conditions of every form."""
    choice = SeededChoice(seed)
    made = [random_subscription(choice, "exact", f"s{seed}-{n}") for n in range(count)]
    return made + [lw.parse(text, id=f"x{seed}-{n}") for n, text in enumerate(EXTRA)]


def seen(seed: int, count: int) -> list[lw.Event]:
    choice = SeededChoice(seed)
    made = [random_event(choice, frozenset({"exact"}), f"e{n}", 0, 0) for n in range(count)]
    return made + [lw.event(payload) for payload in SEEN]


def ids(matcher: Matcher, event: lw.Event) -> list[str]:
    return [match.subscription_id for match in matcher.match(event, at=0)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    matcher = Matcher()
    matcher.add_many(drawn(1, 60))
    matcher.save(tmp_path / "m")
    return tmp_path / "m"


@pytest.mark.parametrize("seed", range(3))
def test_a_loaded_index_answers_as_the_oracle_while_subscriptions_come_and_go(seed: int, tmp_path: Path) -> None:
    chosen = random.Random(seed)
    matcher = Matcher()
    plain = Matcher(engines={"exact": "naive"})
    pool = drawn(seed, 200)
    waiting = list(pool)
    chosen.shuffle(waiting)
    events = seen(seed + 50, 40)
    for round_ in range(4):
        for _ in range(45):
            held = list(plain.subscriptions())
            if held and chosen.random() < 0.35:
                id = chosen.choice(held).id
                matcher.remove(id)
                plain.remove(id)
            elif waiting and chosen.random() < 0.5:
                some = [waiting.pop() for _ in range(min(5, len(waiting)))]
                assert matcher.add_many(some) == plain.add_many(some)
            elif waiting:
                one = waiting.pop()
                matcher.add(one)
                plain.add(one)
        matcher.save(tmp_path / "m")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            matcher = Matcher.load(tmp_path / "m")
        expected = [ids(plain, event) for event in events]
        assert [ids(matcher, event) for event in events] == expected, round_
        batch = matcher.match_batch(events, at=[0] * len(events))
        assert [(e, id) for e, id, _ in batch.pairs()] == [(e, id) for e, of in enumerate(expected) for id in of]
        assert matcher.subscriptions() == plain.subscriptions()
    engine = BitmapEngine(shape=TINY)
    engine.add_many([Addition(n, s, 0) for n, s in enumerate(pool)])
    again = BitmapEngine(shape=TINY)
    built = engine.export_index()
    copied = built._replace(arrays={name: array.copy() for name, array in built.arrays.items()})
    again.import_index(copied, dict(enumerate(pool)))
    for ordinal in range(0, len(pool), 3):
        engine.remove(ordinal)
        again.remove(ordinal)
    for event in events:
        assert engine.find(event).ordinals.tolist() == again.find(event).ordinals.tolist()
    for ordinal in set(range(len(pool))) - set(range(0, len(pool), 3)):
        again.remove(ordinal)
    assert len(again) == len(again._book) == 0


@pytest.mark.parametrize("count", [10, 1_500])
def test_many_added_at_once_are_as_if_added_one_by_one(count: int) -> None:
    subscriptions = drawn(7, count)
    one, many = Matcher(), Matcher()
    for subscription in subscriptions:
        one.add(subscription, at=0)
    assert many.add_many(iter(subscriptions), at=0) == [s.id for s in subscriptions]
    for event in seen(8, 60):
        assert ids(one, event) == ids(many, event)
    assert one.subscriptions() == many.subscriptions()


@pytest.mark.parametrize("count", [10, 1_500])
def test_if_one_of_many_is_refused_none_is_held(count: int) -> None:
    matcher = Matcher()
    kept = drawn(3, 20)
    matcher.add_many(kept)
    events = seen(4, 30)
    before = [ids(matcher, event) for event in events]
    fresh = drawn(9, count)
    for bad, error in (
        ([*fresh, kept[0]], DuplicateId),
        ([*fresh, fresh[0]], DuplicateId),
        ([*fresh, Subscription(fresh[0].body)], InvalidSubscription),
        ([*fresh, "{this is no"], LikewiseError),
    ):
        with pytest.raises(error):
            matcher.add_many(bad)  # type: ignore[arg-type]
        assert matcher.subscriptions() == tuple(kept)
        assert [ids(matcher, event) for event in events] == before
    engine = BitmapEngine()
    relaxed = lw.parse("{device~ = laptop}", id="r")
    with pytest.raises(LikewiseError):
        engine.add_many([Addition(n, s, 0) for n, s in enumerate([*fresh, relaxed])])
    assert len(engine) == len(engine._book) == 0
    matcher.add_many(fresh)
    assert len(matcher) == len(kept) + len(fresh)


def test_validity_of_many_ends_as_of_one() -> None:
    matcher = Matcher()
    matcher.add_many([{"text": "{x > 0} valid for 5 s", "id": "short"}, {"text": "{x > 0}", "id": "long"}], at=0)
    event = lw.event({"x": 1})
    assert [m.subscription_id for m in matcher.match(event, at=4_999_999)] == ["short", "long"]
    assert [m.subscription_id for m in matcher.match(event, at=5_000_000)] == ["long"]
    matcher.add_many([{"text": "{x > 0} valid for 5 s", "id": id} for id in ("early", "late")], at=[0, 9_000_000])
    assert [m.subscription_id for m in matcher.match(event, at=9_000_000)] == ["long", "late"]
    with pytest.raises(InputError, match="one for each"):
        matcher.add_many([{"text": "{x > 0}", "id": "one"}], at=[0, 1])


def test_loading_and_matching_read_no_subscription(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Matcher.load(folder)
    day = re.compile(
        r"\d{4}-\d\d-\d\d"
    )  # a day is compared with each condition as it stands where seconds are asked for
    events = [each for each in seen(2, 60) if not any(day.fullmatch(str(t.value)) for t in each.tuples)][:20]
    expected = list(plain.match_batch(events, at=[0] * 20).pairs())
    read: list[int] = []
    before = StoredLines.subscription

    def counted(self: StoredLines, line: int) -> Subscription:
        read.append(line)
        return before(self, line)

    monkeypatch.setattr(StoredLines, "subscription", counted)
    loaded = Matcher.load(folder)
    assert sum(len(loaded.match(event, at=0)) for event in events) == len(expected)
    unsaid = set(loaded._state.engines["exact"]._unsaid)  # type: ignore[attr-defined]
    assert len(read) <= len(unsaid)
    assert len(loaded) == 60 + len(EXTRA)
    assert "s1-3" in loaded
    assert loaded.subscriptions() == plain.subscriptions()


def damage(path: Path) -> None:
    """Change one byte in the middle."""
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def manifest(path: Path, **facts: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **facts}))


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *product(("lines.bin", "ids.json", "exact.bin", "exact.json"), ("damaged", "missing", "cut", "empty")),
        *product(("manifest.json",), ("missing", "cut", "empty")),
    ],
)
def test_an_index_that_is_damaged_is_built_anew_and_said_so(folder: Path, name: str, how: str) -> None:
    events = seen(2, 20)
    expected = [ids(Matcher.load(folder), event) for event in events]
    path = folder / "index" / name
    match how:
        case "damaged":
            damage(path)
        case "missing":
            path.unlink()
        case "cut":
            path.write_bytes(path.read_bytes()[:-9])
        case "empty":
            path.write_bytes(b"")
    with pytest.warns(IndexRebuilt, match=r"index in .* is not used: .*save the matcher again"):
        loaded = Matcher.load(folder)
    assert [ids(loaded, event) for event in events] == expected
    loaded.save(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(Matcher.load(folder)) == len(loaded)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"v": 99}, "version 99"),
        ({"format": "other"}, "'other'"),
        ({"likewise": "0.0.1"}, "built by likewise 0.0.1"),
        ({"subscriptions": "00"}, "of other subscriptions"),
        ({"unknown": 1}, "cannot be read"),
    ],
)
def test_an_index_of_something_else_is_not_used(folder: Path, facts: dict[str, object], reason: str) -> None:
    manifest(folder / "index" / "manifest.json", **facts)
    with pytest.warns(IndexRebuilt, match=reason):
        loaded = Matcher.load(folder)
    assert len(loaded) == 60 + len(EXTRA)


def test_another_engine_does_not_use_the_index(folder: Path) -> None:
    with pytest.warns(IndexRebuilt, match="forest"):
        loaded = Matcher.load(folder, profile="small")
    event = lw.event({"n": 2})
    assert ids(loaded, event) == ids(Matcher.load(folder), event)


def test_subscriptions_that_are_damaged_are_refused(folder: Path) -> None:
    path = folder / "subscriptions.jsonl"
    whole = path.read_bytes()
    for changed in (whole[:-30], whole.replace(b"s1-7", b"s1-8"), whole + whole.splitlines(True)[0]):
        path.write_bytes(changed)
        with pytest.raises(ArtefactDamaged, match="not what was saved"):
            Matcher.load(folder)
    path.unlink()
    with pytest.raises(ArtefactMissing, match=r"subscriptions\.jsonl is missing"):
        Matcher.load(folder)


def test_a_folder_of_a_newer_version_is_refused_and_one_of_the_first_is_read(folder: Path) -> None:
    events = seen(2, 20)
    expected = [ids(Matcher.load(folder), event) for event in events]
    kept = json.loads((folder / "manifest.json").read_text())
    manifest(folder / "manifest.json", v=4)
    with pytest.raises(ArtefactVersion, match="upgrade"):
        Matcher.load(folder)
    for never in (0, -1):
        manifest(folder / "manifest.json", v=never)
        with pytest.raises(ArtefactDamaged, match="never was"):
            Matcher.load(folder)
    for version, later in ((2, ("files", "seal")), (1, ("checksum", "files", "seal"))):  # as these wrote it
        earlier = {name: said for name, said in kept.items() if name not in later}
        (folder / "manifest.json").write_text(json.dumps({**earlier, "v": version}))
        loaded = Matcher.load(folder)
        assert [ids(loaded, event) for event in events] == expected


def test_a_matcher_may_be_saved_without_an_index(tmp_path: Path) -> None:
    matcher = Matcher()
    matcher.add_many(drawn(1, 5))
    matcher.save(tmp_path / "m", index=False)
    assert not (tmp_path / "m" / "index").exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(Matcher.load(tmp_path / "m")) == len(matcher)


def test_a_saved_folder_may_be_read_by_whom_the_umask_lets(tmp_path: Path) -> None:
    matcher = Matcher()
    matcher.add_many(drawn(1, 5))
    before = os.umask(0o022)
    try:
        matcher.save(tmp_path / "m")
    finally:
        os.umask(before)
    for path in (tmp_path / "m", *(tmp_path / "m").rglob("*")):
        assert path.stat().st_mode & 0o044 == 0o044, path
        assert path.stat().st_mode & 0o022 == 0, path
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_what_is_changed_after_loading_leaves_the_folder_as_it_is(folder: Path) -> None:
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    loaded = Matcher.load(folder)
    for subscription in loaded.subscriptions()[::2]:
        loaded.remove(subscription.id)
    loaded.add({"text": "{x > 1}", "id": "new"})
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == files


def test_files_of_arrays_that_are_none_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    arrays = {"a": np.arange(5, dtype=np.int32), "b": np.array([[1.5, 2.5]]), "c": np.empty(0, np.uint64)}
    write_arrays(path, arrays)
    for name, array in read_arrays(path).items():
        assert array.dtype == arrays[name].dtype
        np.testing.assert_array_equal(array, arrays[name])
        array[...] = 0
    whole = path.read_bytes()
    for bad in (
        b"",
        b"LIKEWISX" + whole[8:],
        whole[:40],
        whole[:-64],
        whole.replace(b"<i4", b"|O8"),
        whole[:16] + b"x" * 99,
    ):
        path.write_bytes(bad)
        with pytest.raises(ArtefactDamaged):
            read_arrays(path)
    with pytest.raises(ArtefactDamaged):
        read_arrays(tmp_path / "missing")


def test_stored_subscriptions_are_like_a_dict_of_them(folder: Path) -> None:
    held = Matcher.load(folder)._state.held
    assert isinstance(held, StoredSubscriptions)

    def first() -> Iterator[int]:
        return iter(held)

    ordinal = next(first())
    kept = held[ordinal]
    assert held[ordinal] is kept
    assert held.get(10**6) is None
    with pytest.raises(KeyError):
        held[10**6]
    assert held.pop(ordinal) == kept
    assert ordinal not in held
    held[10**6] = kept
    assert list(held)[-1] == 10**6
