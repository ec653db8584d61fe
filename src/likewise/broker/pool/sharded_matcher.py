"""A tenant's matcher over shards, wherever they are.

It answers as a `NumberedMatcher` does. Changes of subscriptions, time or windows are sent to the shards, which apply
them in order, so nobody has to wait for that. Replies of several shards are merged by number.

A new subscription goes to the smallest shard, an alert to its co-located ones. Numbers ascend over all shards. Expiry
is noticed here, for all shards at once. Annotations and feedback are replicated to every shard.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise.broker.log.entries import event_body
from likewise.broker.log.packed_sets import Numbers
from likewise.broker.pool.pool import WorkerPool, worker_error
from likewise.broker.pool.process import remove_folder
from likewise.broker.pool.protocol import (
    AdoptState,
    Advance,
    Board,
    BoardReply,
    BooleanReply,
    EventSent,
    Expect,
    Expects,
    Explain,
    ExplanationReply,
    MatchStateful,
    NewSubscription,
    Operation,
    OperationFailed,
    Outage,
    PostponeExpiry,
    QueryState,
    Rename,
    RenameSource,
    Reply,
    SaveShard,
    ShardState,
    Shift,
    Standings,
    StandingsReply,
    StateChanges,
    SuspendAbsence,
    UpdateKnowledge,
    WithdrawEvent,
    WouldMatch,
)
from likewise.broker.pool.shard import CoLocationKey, Shard, co_location_key
from likewise.broker.tenants.matched_events import BatchMatchIndex
from likewise.broker.tenants.numbered_matcher import NumberedMatch, NumberedMatcher, RankedEvent
from likewise.errors import UnknownId
from likewise.matching.matcher import Matcher
from likewise.model import Event, Explanation, Kind, Subscription
from likewise.model.alerts.alert_state import AlertKeyState
from likewise.model.alerts.notification import Key, Why
from likewise.semantics.enrichment.rows import write_annotations
from likewise.semantics.enrichment.table import NO_ANNOTATIONS, AnnotationTable
from likewise.semantics.feedback import Judgement

TABLE: Final = 2**25  # numbers up to which a table says where each stands; beyond they are looked for


class ShardedSubscriptions(NumberedMatcher):
    """A tenant's subscriptions in shards; `matcher` is empty and provides the interpretation."""

    def __init__(self, empty: Matcher, tenant: int, pool: WorkerPool, *, stateful: bool) -> None:
        super().__init__(empty)
        self.stateful = stateful
        self.shards: list[Shard] = []
        self._tenant = tenant
        self.pool = pool
        self._of: dict[int, Shard] = {}
        self._kinds: set[Kind] = set()
        self._co_located: dict[CoLocationKey, dict[int, None]] = {}
        self._annotations: AnnotationTable = NO_ANNOTATIONS
        self._judgements: list[Judgement] = []
        self._answers: dict[int, ShardState] = {}  # what was heard last
        self._reached: int | None = None
        self.absence_suspensions: dict[Why, set[str]] = {"unreachable": set(), "resting": set()}
        self.version = 0  # grows with each subscription that comes or goes
        self._numbered = -1
        self._table: NDArray[np.int32] | None = None
        self._ends: list[tuple[int, int]] = []  # when a validity is over, as a heap; for those without state

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, number: int) -> bool:
        return number in self._of

    @property
    def kinds(self) -> frozenset[Kind]:
        """Return the kinds of subscriptions it has held so far."""
        return frozenset(self._kinds)

    def subscriptions(self) -> Iterator[tuple[int, Subscription]]:
        """Return the subscriptions with their numbers, in the order of addition."""
        return ((number, self._of[number].subscriptions[number].subscription) for number in sorted(self._of))

    def numbers(self) -> Numbers:
        """Return all numbers, ascending; the same array as long as no subscription comes or goes."""
        if self._numbered != self.version:
            self._numbered, self._named = self.version, np.array(sorted(self._of), np.int64)
            self._table = None
            if self._of and self._named[-1] - self._named[0] < TABLE:
                self._table = np.zeros(int(self._named[-1] - self._named[0]) + 1, np.int32)
                self._table[self._named - self._named[0]] = np.arange(len(self._named), dtype=np.int32)
        return self._named

    def indexes_of(self, numbers: Numbers) -> NDArray[np.integer[Any]]:
        """Return the indexes of some subscriptions in `numbers`."""
        named = self.numbers()
        if self._table is not None and len(numbers):
            indexes: NDArray[np.int32] = self._table[numbers - named[0]]
            return indexes
        return np.searchsorted(named, numbers)

    # -- shares ---------------------------------------------------------------------------------

    def add_shard(self, share: Shard) -> None:
        """Let a share be one of its own, with what it holds."""
        self.shards.append(share)
        for number, each in share.subscriptions.items():
            self._of[number] = share
            self._note(each)
        self.version += 1

    def replace_with(self, share: Shard) -> None:
        """Let a share be one of its own that takes over what another held: the same subscriptions, elsewhere."""
        self.shards.append(share)
        self._of.update(dict.fromkeys(share.subscriptions, share))

    def shard_of(self, number: int) -> Shard:
        """Return the shard of a subscription."""
        shard = self._of.get(number)
        if shard is None:
            raise UnknownId(str(number))
        return shard

    def _choose(self, number: int, subscription: Subscription) -> Shard:
        """Choose the shard of a new subscription: that of its co-located alerts, else the smallest without a proxy."""
        if (same := co_location_key(subscription)) is not None and (related := self._co_located.get(same)):
            return self._of[next(iter(related))]
        return min((share for share in self.shards if share.parent is None), key=lambda share: len(share.subscriptions))

    # -- subscriptions --------------------------------------------------------------------------

    def add(self, number: int, subscription: Subscription, at: int, owner: int = 0) -> None:
        """Hold a subscription under a number; one that no engine would take is refused here."""
        self.matcher.alike().add(subscription, at=at)
        self.send_knowledge()
        share = self._choose(number, subscription)
        new, fresh = NewSubscription(number, owner, at, subscription), not share.subscriptions
        tickets = self.pool.add_subscriptions(share, [new])
        if fresh and self.stateful and self._reached is not None:  # it is no earlier there than elsewhere
            tickets += self.pool.change(share, Advance(self._reached))
        for why, sources in self.absence_suspensions.items() if fresh else ():
            if sources:
                tickets += self.pool.change(share, SuspendAbsence(sorted(sources), why, self._reached or at))
        self._of[number] = share
        self._note(new)
        self.version += 1
        for ticket in tickets:
            reply = self.pool.wait(ticket)
            if isinstance(reply, OperationFailed):
                self.remove(number)
                raise worker_error(reply)

    def add_many(self, numbered: Sequence[tuple[int, Subscription, int]]) -> None:
        """Hold subscriptions under numbers, one by one."""
        for number, subscription, at in numbered:
            self.add(number, subscription, at)

    def remove(self, number: int) -> None:
        """Hold a subscription no longer."""
        share = self.shard_of(number)
        if (same := co_location_key(share.subscriptions[number].subscription)) is not None:
            self._co_located[same].pop(number, None)
            if not self._co_located[same]:
                del self._co_located[same]
        del self._of[number]
        self.version += 1
        self.pool.remove_subscriptions(share, [number])

    def _note(self, new: NewSubscription) -> None:
        self._kinds.add(new.subscription.kind)
        if (same := co_location_key(new.subscription)) is not None:
            self._co_located.setdefault(same, {})[new.number] = None
        if new.subscription.valid_for is not None:
            heapq.heappush(self._ends, (new.at + new.subscription.valid_for, new.number))

    @property
    def first_end(self) -> int | None:
        """Return when the first subscription expires."""
        while self._ends and self._ends[0][1] not in self._of:
            heapq.heappop(self._ends)
        return self._ends[0][0] if self._ends else None

    def end_validity(self, now: int) -> None:
        """Let go of what is over by now: every share at once, whichever of them saw the event that says so."""
        while (end := self.first_end) is not None and end <= now:
            self.remove(heapq.heappop(self._ends)[1])

    # -- what holds for all of them -------------------------------------------------------------

    def send_knowledge(self) -> None:
        """Tell the shares of annotations and judgements, if others hold than they were told."""
        by = self.matcher.interpretation
        rows, judgements = by.annotations.current(), list(by.feedback)
        if rows is self._annotations and judgements == self._judgements:
            return
        self._annotations, self._judgements = rows, judgements
        known = UpdateKnowledge(write_annotations(rows) if len(rows) else "", judgements)
        for share in self.shards:
            self.pool.update_knowledge(share, known)

    @property
    def knowledge(self) -> UpdateKnowledge:
        """Return the annotations and feedback for a new shard."""
        rows = self._annotations
        return UpdateKnowledge(write_annotations(rows) if len(rows) else "", self._judgements)

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Send changed feedback to the shards, which drop what it concerns."""
        self.send_knowledge()


S = TypeVar("S", ShardState, ExplanationReply, StateChanges, BoardReply, StandingsReply, BooleanReply)
SHARDS_FOLDER: Final = "shares"  # where a spread matcher is saved: one folder a share


class ShardedMatcher(ShardedSubscriptions):
    """Sends operations to a tenant's shards and merges their replies."""

    # -- matching -------------------------------------------------------------------------------

    def _expect_reply(self, reply: Reply, kind: type[S]) -> S:
        if isinstance(reply, OperationFailed):
            raise worker_error(reply)
        assert isinstance(reply, kind), reply
        return reply

    def _request_all(self, operation: Operation, *, changes: bool) -> list[Reply]:
        """Send an operation to all shards and return their replies."""
        pool, busy = self.pool, [share for share in self.shards if share.subscriptions or changes]
        if changes:
            requests = [pool.change(share, operation)[0] for share in busy]
        else:
            requests = [pool.ask(share, operation) for share in busy]
        return [pool.wait(ticket) for ticket in requests]

    def _matches(self, operation: Operation, *, changes: bool) -> list[NumberedMatch]:
        matches = [
            each
            for reply in self._request_all(operation, changes=changes)
            for hits in self._expect_reply(reply, StateChanges).found
            for each in hits
        ]
        return matches if len(self.shards) == 1 else sorted(matches, key=lambda each: each.order)

    def match(self, position: int, event: Event, at: int) -> list[NumberedMatch]:
        """Match one event, and return its matches and promotions."""
        if not self.stateful:
            return self.would_match(event, at)
        self.send_knowledge()
        self.set_reached(at)
        return self._matches(MatchStateful([EventSent(position, at, event_body(event))]), changes=True)

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> BatchMatchIndex:
        """Raise: batches go to the shards by `batch_job`."""
        raise AssertionError("stretches are dispatched, not matched here")

    def would_match(self, event: Event, at: int) -> list[NumberedMatch]:
        """Match an event without any effect."""
        self.send_knowledge()
        return self._matches(WouldMatch(event_body(event), at), changes=False)

    def explain(self, event: Event, number: int, at: int, position: int | None = None) -> Explanation:
        """Explain why an event, at a position if it is stored, matches a subscription, or why not."""
        operation = Explain(event_body(event), number, at, position)
        return self._expect_reply(
            self.pool.wait(self.pool.ask(self.shard_of(number), operation)), ExplanationReply
        ).explanation

    def board(self, number: int) -> list[RankedEvent]:
        """Return the top k of a window."""
        return self._expect_reply(
            self.pool.wait(self.pool.ask(self.shard_of(number), Board(number))), BoardReply
        ).places

    def standings(self, number: int, limit: int) -> list[AlertKeyState]:
        """Return the standings of an alert's keys, those with notifications first."""
        return self._standings_reply(number, limit).keys

    def count_keys(self, number: int) -> int:
        """Count the keys of an alert that have a state."""
        return self._standings_reply(number, 1).total

    def _standings_reply(self, number: int, limit: int) -> StandingsReply:
        return self._expect_reply(
            self.pool.wait(self.pool.ask(self.shard_of(number), Standings(number, limit))), StandingsReply
        )

    def withdraw(self, position: int) -> list[NumberedMatch]:
        """Take an event out of the windows; what takes its place."""
        return self._matches(WithdrawEvent(position), changes=True)

    @property
    def reached(self) -> int | None:
        """Return the time that windows or alerts have reached."""
        return self._reached

    def set_reached(self, now: int | None) -> None:
        """Record that windows and alerts have reached a time."""
        if now is not None and self._of:
            self._reached = now if self._reached is None else max(self._reached, now)

    def advance(self, now: int) -> list[NumberedMatch]:
        """Let time pass; what is promoted by it."""
        self.set_reached(now)
        return self._matches(Advance(now), changes=True)

    def shift(self, by: int) -> None:
        """Let everything in the windows count as so many µs later, earlier if negative."""
        if self._reached is not None:
            self._reached += by
        for share in self.shards:
            self.pool.change(share, Shift(by))

    def outage(self, by: int, until: int | None = None) -> None:
        """Report an outage of so many µs, until a time."""
        for share in self.shards:
            self.pool.change(share, Outage(by, until))

    def postpone_expiry(self, by: int) -> None:
        """Let a time (µs) in which nothing came at all bring no key nearer to being forgotten."""
        for share in self.shards:
            self.pool.change(share, PostponeExpiry(by))

    def suspend_absence(self, sources: Iterable[str], why: Why, at: int) -> None:
        """Suspend `absent for` for some sources."""
        self._set_absence(set(sources), why, at, ends=False)

    def resume_absence(self, sources: Iterable[str], why: Why, at: int) -> None:
        """Resume `absent for` for some sources."""
        self._set_absence(set(sources), why, at, ends=True)

    def _set_absence(self, sources: set[str], why: Why, at: int, *, ends: bool) -> None:
        if not any(share.ever_used for share in self.shards):
            return  # nobody waits for anything
        known = self.absence_suspensions[why]
        self.absence_suspensions[why] = known - sources if ends else known | sources
        for share in self.shards:
            self.pool.change(share, SuspendAbsence(sorted(sources), why, at, ends))

    def absence_suspended(self, why: Why) -> set[str]:
        """Return the sources for which `absent for` is suspended."""
        return set(self.absence_suspensions[why])

    def expect(self, number: int, key: Key, source: str, position: int, at: int) -> None:
        """Watch a key of an alert that was announced by the event at a position."""
        self.pool.change(self.shard_of(number), Expect(number, key, source, position, at))

    def unexpect(self, number: int, key: Key, position: int) -> None:
        """Watch the key no longer."""
        self.pool.change(self.shard_of(number), Expect(number, key, "", position, 0, ends=True))

    def expects(self, number: int, key: Key) -> bool:
        """Return whether an alert knows a key."""
        if number not in self._of:
            return False
        return self._expect_reply(
            self.pool.wait(self.pool.ask(self.shard_of(number), Expects(number, key))), BooleanReply
        ).so

    def rename(self, before: int, after: int) -> None:
        """Replace the event of an announcement."""
        for share in self.shards:
            self.pool.change(share, Rename(before, after))

    def rename_source(self, before: str, after: str | None) -> None:
        """Let what alerts know of a source count for another, or for nobody."""
        for share in self.shards:
            self.pool.change(share, RenameSource(before, after))

    def adopt(self, other: NumberedMatcher) -> None:
        """Take over what another knows of the alerts that this one holds, too."""
        folder = self.pool.folders.new("adopted")
        other.save(folder)
        self.set_reached(other.reached)
        for reply in self._request_all(AdoptState(str(folder)), changes=True):
            if isinstance(reply, OperationFailed):
                raise worker_error(reply)
        if not any(host.number >= 0 for share in self.shards for host in share.hosts):
            remove_folder(folder)  # else a journal may need it again; it goes with the crew

    # -- what is asked of all -------------------------------------------------------------------

    def _state(self, positions: Sequence[int]) -> list[ShardState]:
        states = [
            self._expect_reply(reply, ShardState)
            for reply in self._request_all(QueryState(list(positions)), changes=False)
        ]
        self._answers = dict(enumerate(states))
        return states

    def next_due(self) -> int | None:
        """Return when time next moves an alert, or an earlier time."""
        return min((each.next_due for each in self._state(()) if each.next_due is not None), default=None)

    def needed(self, positions: Sequence[int]) -> set[int]:
        """Return the events that windows or alerts still need."""
        return {position for each in self._state(positions) for position in each.needed}

    def names(self, position: int) -> bool:
        """Return whether a coming notification may refer to an event."""
        return position in self.needed([position])

    def holds_for_long(self, position: int) -> bool:
        """Return whether an event is in a window that time alone never evicts it from."""
        return position in self.needed([position])

    @property
    def refused_late(self) -> int:
        """Return how many events were too late for any window, as of the last query of the shards."""
        return max((each.refused_late for each in self._answers.values()), default=0)

    @property
    def keyless(self) -> int:
        """Return how many events lacked an attribute of an alert's `per`, as of the last query of the shards."""
        return sum(each.keyless for each in self._answers.values())

    @property
    def wrong_clocks(self) -> dict[str, tuple[int, int]]:
        """Return the sources whose clock fell back, as of the last query of the shards."""
        return {source: times for each in self._answers.values() for source, times in each.wrong_clocks.items()}

    # -- keeping --------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Save what it holds: one share as any matcher, several side by side."""
        full = [share for share in self.shards if share.subscriptions]
        if len(full) > 1:
            self.matcher.save(folder)
            places = [folder / SHARDS_FOLDER / str(place) for place, _ in enumerate(full)]
        else:
            places = [folder for _ in full]
            if not full:
                self.matcher.save(folder)
        requests = [self.pool.ask(share, SaveShard(str(place))) for share, place in zip(full, places, strict=True)]
        self.pool.wait_all(requests)
