"""Ids sort by the time they were made, few or many at once, and are UUIDs of version 7."""

from __future__ import annotations

import time
import uuid

import pytest

from likewise.broker.log.entries import uuid7, uuid7s


@pytest.mark.parametrize("count", [1, 15, 16, 5_000])
def test_ids_ascend_and_are_uuids_of_version_7(count: int) -> None:
    before, now = uuid7(), time.time_ns() // 1_000_000
    made = [before, *uuid7s(count), uuid7()]
    assert made == sorted(set(made))
    for id in made:
        known = uuid.UUID(id)
        assert (str(known), known.version, known.variant) == (id, 7, uuid.RFC_4122)
        assert abs((known.int >> 80) - now) < 3_600_000


def test_what_is_left_to_chance_differs() -> None:
    tails = {id[19:] for count in (3, 40) for id in uuid7s(count)}
    assert len(tails) == 43
