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

from likewise.errors import ArtefactMissing
from likewise.lake.atomic_create import write_whole
from likewise.lake.storage import ObjectStorePath, StoragePath
from likewise.lake.subscription_snapshot import LoggedSubscription, SubscriptionSnapshot
from likewise.lake.versioned import decoded
from likewise.matching.matcher import Matcher
from likewise.matching.reference.alerts.transitions import alert_conditions
from likewise.matching.storage.index_file import product
from likewise.model import Subscription
from likewise.spark.streaming.matcher_copies import copy_folder, upload_matcher
from likewise.spark.streaming.matchers import STATEFUL, MeaningChoice, active_at, matcher_folder, move_into_place
from likewise.spark.streaming.state.paths import StatePlacement, shard_name, state_placement

_FILE = "feeds.json"


class ShuffleCondition(msgspec.Struct, frozen=True):
    """A condition by which events are found: where they move a state; `own` if they meet what was asked for."""

    place: StatePlacement
    own: bool


class ShufflePlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """The feeds by the numbers that the matcher beside them has, the subscriptions with a state, how words compare."""

    shards: int
    feeds: tuple[ShuffleCondition, ...]
    subscriptions: tuple[LoggedSubscription, ...]
    choice: MeaningChoice = MeaningChoice()

    @property
    def sorts(self) -> tuple[str, ...]:
        """Return the sorts of shards that have state of subscriptions."""
        return tuple(
            sorted({state_placement(each.number, each.subscription, self.shards).sort for each in self.subscriptions})
        )


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


def shuffle_plan(
    stateful: Sequence[LoggedSubscription], shards: int, choice: MeaningChoice
) -> tuple[ShufflePlan, Matcher]:
    """Return which events move the states of subscriptions, and the matcher that finds them."""
    known: dict[tuple[Subscription, StatePlacement], bool] = {}
    for each in stateful:
        where = state_placement(each.number, each.subscription, shards)
        for condition, own in conditions(each.subscription):
            known[condition, where] = known.get((condition, where), False) or own
    matcher = choice.matcher()
    added = [msgspec.structs.replace(condition, id=str(n)) for n, (condition, _) in enumerate(known)]
    matcher.add_many(added, 0, numbers=range(len(added)))
    feeds = tuple(ShuffleCondition(where, own) for (_, where), own in known.items())
    return ShufflePlan(shards, feeds, tuple(stateful), choice), matcher


def save_shuffle_plan(stateful: Sequence[LoggedSubscription], shards: int, choice: MeaningChoice, place: Path) -> None:
    """Save the plan and its matcher in a folder, which appears whole, unless it is there."""
    if (place / _FILE).is_file():
        return
    plan, matcher = shuffle_plan(stateful, shards, choice)
    place.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".making.", dir=place.parent))
    try:
        matcher.save(making / "new")
        write_whole(making / "new" / _FILE, msgspec.json.encode(plan))
        move_into_place(making / "new", place)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def save_plan_of(
    snapshot: SubscriptionSnapshot, at: int, choice: MeaningChoice, shards: int, folder: StoragePath
) -> str:
    """Save the plan of a snapshot at a moment beside saved matchers, unless it is there, and return its folder.

    Args:
        snapshot: subscriptions of the change log.
        at: moment by which validity is judged.
        choice: how words are compared, as the log has it.
        shards: shards of each sort.
        folder: where saved matchers lie.
    """
    stateful = stateful_subscriptions(snapshot, at)
    over = len(snapshot.subscriptions) - len(active_at(snapshot, at))
    parts = (f"{snapshot.version:020d}", snapshot.digest, str(over), choice.digest(), product(), f"states{shards}")
    name = "-".join(parts)
    if isinstance(folder, ObjectStorePath):
        local = copy_folder(folder) / name
        save_shuffle_plan(stateful, shards, choice, local)
        upload_matcher(local, folder / name)
    else:
        save_shuffle_plan(stateful, shards, choice, folder / name)
    return str(folder / name)


def stateful_subscriptions(held: SubscriptionSnapshot, at: int) -> list[LoggedSubscription]:
    """The rankings and alerts that a batch at this moment sees."""
    return [each for each in active_at(held, at) if each.subscription.kind in STATEFUL]


@lru_cache(maxsize=4)
def open_shuffle_plan(folder: str) -> ShufflePlan:
    """Return the plan of a folder, read once by a worker."""
    path = matcher_folder(folder) / _FILE
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ArtefactMissing(f"{path} is not there; do all workers see the folder of the change log?") from None
    return decoded(path, data, ShufflePlan, current=1)


def subscriptions_in(by_shard: dict[str, list[LoggedSubscription]], shard: str) -> list[LoggedSubscription]:
    """Return the subscriptions of a shard among those of all."""
    return by_shard.get(shard) or by_shard.get(shard.rpartition("-")[0]) or []


def subscriptions_by_shard(plan: ShufflePlan) -> dict[str, list[LoggedSubscription]]:
    """Return the subscriptions by shard, or by the sort of shards where the key says which."""
    found: dict[str, list[LoggedSubscription]] = {}
    for each in plan.subscriptions:
        place = state_placement(each.number, each.subscription, plan.shards)
        found.setdefault(place.sort if place.shard is None else place.of((), plan.shards), []).append(each)
    return found


def shards_of(sorts: Sequence[str], shards: int) -> list[str]:
    """Return the names of all shards of some sorts."""
    return [shard_name(sort, number) for sort in sorts for number in range(shards)]
