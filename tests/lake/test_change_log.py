"""Promises of the change log of subscriptions: versions last, numbers are never used twice, writers get along."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import ArtefactDamaged, ArtefactMissing, ArtefactVersion, InputError, UnknownId
from likewise.lake.change_log import ChangeLog
from likewise.language import parse
from likewise.model import Subscription

WORDS = ["{t > 1}", "{t > 2}", "{t~ > 3}", "{t > 4} top 2 within 1 min by value(t)"]


def warm(degrees: int, id: str = "warm") -> Subscription:
    return parse(f"{{t > {degrees}}}", id=id)


def ids(log: ChangeLog, version: int | None = None) -> dict[int, str]:
    return {number: each.subscription.id for number, each in log.snapshot(version).subscriptions.items()}


def test_each_change_is_a_version_that_can_be_looked_at_later(tmp_path: Path) -> None:
    """What a version holds does not depend on what came after it."""
    log = ChangeLog(tmp_path)
    log.add([warm(1, "a"), warm(2, "b")], at=1)
    log.add([warm(3, "a")], at=2)
    log.remove(["b"])
    assert [ids(log, version) for version in range(4)] == [{}, {0: "a", 1: "b"}, {1: "b", 2: "a"}, {2: "a"}]
    assert ids(ChangeLog(tmp_path)) == {2: "a"}


def test_what_is_held_already_is_no_change(tmp_path: Path) -> None:
    """Adding the same again makes no version and no number."""
    log = ChangeLog(tmp_path)
    log.add([warm(1)], at=1)
    assert log.add([warm(1)], at=9).version == 1


def test_a_number_is_never_used_again(tmp_path: Path) -> None:
    """Not after removal, not after compaction, not for the same subscription."""
    log = ChangeLog(tmp_path)
    for _ in range(3):
        log.add([warm(1)], at=0)
        log.remove(["warm"])
        ChangeLog(tmp_path).compact(keep=0)
    log.add([warm(1)], at=0)
    assert ids(log) == {3: "warm"}


def test_what_is_not_held_is_not_removed_and_nothing_changes(tmp_path: Path) -> None:
    """All of the names, or none."""
    log = ChangeLog(tmp_path)
    log.add([warm(1)], at=0)
    with pytest.raises(UnknownId):
        log.remove(["warm", "cold"])
    assert log.newest() == 1


def test_a_subscription_of_every_kind_comes_back_as_it_was(tmp_path: Path) -> None:
    """With its options, and the moment it was added."""
    wanted = [parse(text, id=str(number)) for number, text in enumerate(WORDS)]
    ChangeLog(tmp_path).add(wanted, at=77)
    ChangeLog(tmp_path).compact()
    found = ChangeLog(tmp_path).snapshot().subscriptions.values()
    assert [each.subscription for each in found] == wanted
    assert {each.at for each in found} == {77}


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    """Every change of both is there, each in a version of its own, with a number of its own."""

    def write(name: str) -> None:
        log = ChangeLog(tmp_path)
        for count in range(20):
            log.add([warm(1, f"{name}{count}")], at=0)

    writers = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    held = ChangeLog(tmp_path).snapshot()
    assert (held.version, held.next_number) == (40, 40)
    found = {each.subscription.id for each in held.subscriptions.values()}
    assert found == {f"{n}{c}" for n in "ab" for c in range(20)}


def test_a_version_that_compaction_took_is_refused_with_words(tmp_path: Path) -> None:
    """Those that were to be kept are there, older ones are not."""
    log = ChangeLog(tmp_path)
    for degrees in range(3):
        log.add([warm(degrees)], at=0)
    log.compact(keep=0)
    for degrees in range(3, 6):
        log.add([warm(degrees)], at=0)
    assert log.compact(keep=2) == 0
    again = ChangeLog(tmp_path)
    assert [ids(again, version) for version in (3, 4, 6)] == [{2: "warm"}, {3: "warm"}, {5: "warm"}]
    with pytest.raises(ArtefactMissing, match=r"version 1 .* is no longer kept; the oldest is 3"):
        ChangeLog(tmp_path).snapshot(2)


def test_a_version_that_is_not_there_yet_is_refused(tmp_path: Path) -> None:
    """The message says up to which there are."""
    log = ChangeLog(tmp_path)
    log.add([warm(1)], at=0)
    with pytest.raises(InputError, match="up to 1; there is no version 2"):
        log.snapshot(2)


def test_a_folder_without_a_log_is_refused_where_one_is_needed(tmp_path: Path) -> None:
    """The message says how to make one."""
    with pytest.raises(ArtefactMissing, match="likewise stream subscriptions add"):
        ChangeLog.opened(tmp_path / "none")


def test_damage_is_told_from_a_newer_version(tmp_path: Path) -> None:
    """A torn file, another one's file, a later format."""
    log = ChangeLog(tmp_path)
    log.add([warm(1)], at=0)
    path = tmp_path / "changes" / f"{1:020d}.json"
    whole = path.read_bytes()
    for data, error in [
        (whole[:-9], ArtefactDamaged),
        (whole.replace(b'"v":1', b'"v":3'), ArtefactVersion),
        (whole.replace(b"likewise-subscriptions", b"likewise-else"), ArtefactDamaged),
        (whole.replace(b'"version":1', b'"version":4'), ArtefactDamaged),
    ]:
        path.write_bytes(data)
        with pytest.raises(error):
            ChangeLog(tmp_path).snapshot()


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 3), st.booleans()), max_size=12))
def test_the_log_holds_what_a_dictionary_would(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, bool]]
) -> None:
    """Adding, replacing, removing and compacting in any order."""
    folder = tmp_path_factory.mktemp("log")
    log = ChangeLog(folder)
    held: dict[str, Subscription] = {}
    for id, number, compacts in steps:
        if number == 3 and id in held:
            del held[id]
            log.remove([id])
        else:
            held.pop(id, None)
            held[id] = warm(number, id)
            log.add([held[id]], at=0)
        if compacts:
            log.compact(keep=1)
    found = ChangeLog(folder).snapshot()
    assert {each.subscription.id: each.subscription for each in found.subscriptions.values()} == held
    assert len(found.subscriptions) <= found.next_number
