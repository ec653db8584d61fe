"""A saved matcher that was damaged anywhere answers as before, or is refused in words: never otherwise."""

from __future__ import annotations

import json
import random
import shutil
import warnings
from pathlib import Path

import pytest

import likewise as lw
from likewise.errors import ArtefactDamaged, ArtefactMissing, IndexRebuilt
from likewise.matching.matcher import Matcher

TEXTS = [
    "{a > 3, b <= 30}",
    "{s in (w1, w2), not b = 4}",
    "{kind is-a device}",
    "{a > 1} top 2 within 9 events by value(b)",
]


def events(chance: random.Random, count: int, name: str) -> list[lw.Event]:
    return [
        lw.event(
            {"a": chance.randrange(9), "b": chance.randrange(50), "s": f"w{chance.randrange(4)}", "kind": "sensor"},
            id=f"{name}{n}",
        )
        for n in range(count)
    ]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    matcher, chance = Matcher(types={"sensor": "device"}), random.Random(1)
    matcher.add_many([lw.parse(text, id=f"s{n}") for n, text in enumerate(TEXTS * 5)])
    for at, event in enumerate(events(chance, 20, "e")):
        matcher.match(event, at=at)
    folder = tmp_path_factory.mktemp("saved") / "m"
    matcher.save(folder)
    return folder


def answers(folder: Path) -> list[list[tuple[str, str]]]:
    loaded = Matcher.load(folder)
    later = events(random.Random(2), 10, "later")
    return [[(m.subscription_id, m.cause) for m in loaded.match(e, at=100 + n)] for n, e in enumerate(later)]


def damaged(chance: random.Random, data: bytes, part: float) -> bytes:
    """The data with a bit turned over, a piece of zeros or an end that is missing, about there."""
    at = min(int(part * len(data)) + chance.randrange(4), len(data) - 1)
    match chance.randrange(4):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + bytes(min(32, len(data) - at)) + data[at + 32 :]
        case _:
            return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def test_every_region_of_every_file_is_guarded(saved: Path, tmp_path: Path) -> None:
    """The index is made again, everything else is refused with an error of the tree."""
    expected = answers(saved)
    names = [path.relative_to(saved) for path in sorted(saved.rglob("*")) if path.is_file()]
    assert {"manifest.json", "types.json", "subscriptions.jsonl", "engines/top/members.arrow"} <= {*map(str, names)}
    chance, refused, rebuilt = random.Random(3), 0, 0
    for name in names:
        whole = (saved / name).read_bytes()
        for step in range(8):
            bad = damaged(chance, whole, step / 8)
            if bad == whole:
                continue
            folder = tmp_path / "m"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(saved, folder)
            (folder / name).write_bytes(bad)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                try:
                    assert answers(folder) == expected, (name, step)
                except (ArtefactDamaged, ArtefactMissing):
                    refused += 1
                else:
                    rebuilt += any(issubclass(each.category, IndexRebuilt) for each in said)
    assert refused
    assert rebuilt


def test_a_manifest_with_another_number_is_refused(saved: Path, tmp_path: Path) -> None:
    """A threshold that nobody chose would change what matches."""
    folder = tmp_path / "m"
    shutil.copytree(saved, folder)
    said = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**said, "threshold": 0.1}))
    with pytest.raises(ArtefactDamaged, match="seal"):
        Matcher.load(folder)
