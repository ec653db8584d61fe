"""Which events move whose state: the conditions of rankings and alerts, held by a matcher that keeps no state itself.

An event that meets none of them moves nothing, and stays where it was read.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from likewise.lake.atomic_create import write_whole
from likewise.lake.subscription_snapshot import LoggedSubscription, SubscriptionSnapshot
from likewise.lake.versioned import decoded
from likewise.matching.matcher import Matcher
from likewise.matching.reference.alerts.transitions import alert_conditions
from likewise.model import Subscription
from likewise.spark.streaming.matchers import STATEFUL, active_at, move_into_place
from likewise.spark.streaming.state.paths import StatePlacement, state_placement

_FILE = "feeds.json"


class ShuffleCondition(msgspec.Struct, frozen=True):
    """A condition by which events are found: where they move a state; `own` if they meet what was asked for."""

    place: StatePlacement
    own: bool


class ShufflePlan(msgspec.Struct, frozen=True):
    """The feeds by the numbers that the matcher beside them has, and the subscriptions with a state."""

    shards: int
    feeds: tuple[ShuffleCondition, ...]
    subscriptions: tuple[LoggedSubscription, ...]


def conditions(subscription: Subscription) -> list[tuple[Subscription, bool]]:
    """What is asked about every event for a subscription with a state; True for what it asks for itself.

    >>> from likewise.language import parse
    >>> [(str(each), own) for each, own in conditions(parse("{door = open} for 5 min"))]
    [('{door = open}', True), ('{door exists}', False)]
    """
    if subscription.alert is not None:
        own, about, until = alert_conditions(subscription)
        found = [(own, True), *((each, False) for each in (about, until) if each is not None)]
    else:
        found = [(msgspec.structs.replace(subscription, top=None, select=(), from_one_source=False), True)]
    plain = {"id": "", "valid_for": None, "confidence": None}  # the shard itself judges how sure it must be
    return [(msgspec.structs.replace(each, **plain), own) for each, own in found]


def save_shuffle_plan(empty: Matcher, stateful: Sequence[LoggedSubscription], shards: int, place: Path) -> None:
    """Write the feeds of subscriptions with a state to a folder, which appears whole, unless it is there."""
    if (place / _FILE).is_file():
        return
    known: dict[tuple[Subscription, StatePlacement], bool] = {}
    for each in stateful:
        where = state_placement(each.number, each.subscription, shards)
        for condition, own in conditions(each.subscription):
            known[condition, where] = known.get((condition, where), False) or own
    held = [msgspec.structs.replace(condition, id=str(n)) for n, (condition, _) in enumerate(known)]
    empty.add_many(held, 0, numbers=range(len(held)))
    feeds = ShufflePlan(
        shards, tuple(ShuffleCondition(where, own) for (_, where), own in known.items()), tuple(stateful)
    )
    place.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".making.", dir=place.parent))
    try:
        (making / "new").mkdir()
        empty.save(making / "new" / "matcher")
        write_whole(making / "new" / _FILE, msgspec.json.encode(feeds))
        move_into_place(making / "new", place)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def stateful_subscriptions(held: SubscriptionSnapshot, at: int) -> list[LoggedSubscription]:
    """The rankings and alerts that a batch at this moment sees."""
    return [each for each in active_at(held, at) if each.subscription.kind in STATEFUL]


@lru_cache(maxsize=2)
def open_shuffle_plan(folder: str) -> ShufflePlan:
    """The feeds of a folder, read once by a worker."""
    path = Path(folder, _FILE)
    return decoded(path, path.read_bytes(), ShufflePlan, current=1)


def subscriptions_of(folder: str, shard: str) -> list[LoggedSubscription]:
    """The subscriptions that a shard has state of; none where there are no feeds."""
    found = _by_place(folder) if folder else {}
    return found.get(shard) or found.get(shard.rpartition("-")[0]) or []


@lru_cache(maxsize=2)
def _by_place(folder: str) -> dict[str, list[LoggedSubscription]]:
    """The subscriptions by shard, or by the sort of shards where the key says which."""
    feeds = open_shuffle_plan(folder)
    found: dict[str, list[LoggedSubscription]] = {}
    for each in feeds.subscriptions:
        place = state_placement(each.number, each.subscription, feeds.shards)
        found.setdefault(place.sort if place.shard is None else place.of((), feeds.shards), []).append(each)
    return found
