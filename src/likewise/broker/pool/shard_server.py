"""Serve a shard of one tenant's subscriptions, in a worker process or in this one.

`ShardServer.perform` is all that a shard can be requested to do. A worker calls it for what comes over its socket;
without processes it is called directly. So both give the same replies.

Removing half of a large shard takes seconds. Done at once, events would wait so long when a worker splits. So a shard
drains: it hides the subscriptions immediately and removes them a few at a time, between two replies.

A hierarchical pool splits a shard by the covering forest of its exact conditions: the heaviest subtrees, by measured
matching time, go behind a proxy, and their roots stay. Where the forest has hardly any covering, the conditions that
bound one attribute are cut in the middle.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from math import inf
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from likewise.broker.log.deliveries import OwnerIndex
from likewise.broker.log.entries import EVENT, BatchedEvent, Entry, is_written, read_event
from likewise.broker.log.packed_sets import NONE, Numbers, pack
from likewise.broker.pool import protocol as messages
from likewise.broker.pool.protocol import (
    AddSubscriptions,
    AdoptState,
    Advance,
    BatchMatches,
    Board,
    BoardReply,
    BooleanReply,
    Completed,
    EventSent,
    Expect,
    Expects,
    Explain,
    ExplanationReply,
    LoadShard,
    MatchEvents,
    MatchStateful,
    Operation,
    OperationFailed,
    Outage,
    PlanSplit,
    PostponeExpiry,
    QueryState,
    RemoveSubscriptions,
    Rename,
    RenameSource,
    Reply,
    SaveShard,
    SetProxies,
    ShardState,
    Shift,
    SplitPlan,
    Standings,
    StandingsReply,
    StateChanges,
    SuspendAbsence,
    UpdateKnowledge,
    WarmUpMatching,
    WithdrawEvent,
    WouldMatch,
)
from likewise.broker.tenants.match_guarded import events_of, match_guarded
from likewise.broker.tenants.matched_events import BatchMatchIndex, EventRecipients
from likewise.broker.tenants.numbered_matcher import NumberedMatch, NumberedMatcher
from likewise.errors import LikewiseError
from likewise.formats.json.batches import decode_each
from likewise.matching.covering.covering import covers
from likewise.matching.forest.engine import ForestEngine
from likewise.matching.forest.predicate_table import PredicateTable
from likewise.model import Event, Predicate, Subscription
from likewise.model.subscription import Condition
from likewise.semantics.enrichment.rows import read_annotations
from likewise.semantics.enrichment.table import NO_ANNOTATIONS, AnnotationTable
from likewise.semantics.feedback import Feedback, judged_by

FOREST: Final = 10_000  # subscriptions up to which the forest is built
WEIGHED: Final = 64  # trees whose matching time is measured, the largest first
Conditions = dict[int, Subscription]


def plan_split(matcher: NumberedMatcher, entries: Sequence[Entry], at: Sequence[int]) -> SplitPlan:
    """Return the part of the exact subscriptions that can go behind a proxy, about half of them by weight."""
    conditions = {number: each for number, each in matcher.subscriptions() if each.kind == "exact"}
    subtrees = _subtrees(matcher, conditions, entries, at) if len(conditions) <= FOREST else None
    return subtrees if subtrees is not None and subtrees.numbers else _cluster(conditions)


def _subtrees(
    matcher: NumberedMatcher, conditions: Conditions, entries: Sequence[Entry], at: Sequence[int]
) -> SplitPlan | None:
    """Return the heaviest trees without their roots, until they weigh half; None if they hold hardly anything."""
    forest = ForestEngine(types=matcher.interpretation.types)
    for number, each in conditions.items():
        forest.add(number, each, 0)
    trees = sorted((tree for tree in forest.trees() if tree[1]), key=lambda tree: -len(tree[1]))
    if sum(len(below) for _, below in trees) < len(conditions) / 4:
        return None
    weighed = [(_weight(matcher, conditions, below, entries, at), roots[0], below) for roots, below in trees[:WEIGHED]]
    weighed.sort(reverse=True)
    total, moved_weight = sum(weight for weight, _, _ in weighed), 0.0
    numbers, chosen = list[int](), list[Subscription]()
    for weight, root, below in weighed:
        if numbers and moved_weight + weight > total / 2:
            continue
        moved_weight += weight
        numbers += below
        chosen.append(_as_root(conditions[root]))
    return SplitPlan(sorted(numbers), chosen)


def _weight(
    matcher: NumberedMatcher,
    conditions: Conditions,
    numbers: Sequence[int],
    entries: Sequence[Entry],
    at: Sequence[int],
) -> float:
    """Measure the seconds that matching some events takes; without events, count the subscriptions."""
    if not entries:
        return float(len(numbers))
    alone = matcher.alike()
    alone.add_many(
        [(number, msgspec.structs.replace(conditions[number], valid_for=None), 0) for number in sorted(numbers)]
    )
    events = events_of(entries)
    alone.match_batch(events, at)  # what is kept of words is there from now on
    begun = time.thread_time()
    alone.match_batch(events, at)
    return time.thread_time() - begun


def _cluster(conditions: Conditions) -> SplitPlan:
    """Return the upper half of the conditions on the attribute that most of them bound."""
    table = PredicateTable()
    bounds: dict[str, dict[int, tuple[float, float]]] = {}
    for number, each in conditions.items():
        assert isinstance(each.body, Condition)
        conjunctions = each.body.conjunctions()
        if len(conjunctions) > 1:
            continue
        for entry in table.acquire(conjunctions[0]).positive:
            if entry.bounds is not None:
                bounds.setdefault(entry.attribute, {})[number] = entry.bounds
    if not bounds:
        return SplitPlan([], [])
    attribute, intervals = max(bounds.items(), key=lambda item: len(item[1]))
    order = sorted(intervals, key=lambda number: _middle(*intervals[number]))
    half = order[len(order) // 2 :]
    low, high = min(intervals[number][0] for number in half), max(intervals[number][1] for number in half)
    sides = [Predicate(attribute, ">=", low)] if low > -inf else []
    sides += [Predicate(attribute, "<=", high)] if high < inf else []
    root = Condition(tuple(sides) if sides else (Predicate(attribute, "exists", None),))
    return SplitPlan(sorted(n for n in half if _covered(root, conditions[n])), [Subscription(root, id="root")])


def _covered(root: Condition, each: Subscription) -> bool:
    return isinstance(each.body, Condition) and covers(root, each.body)


def _middle(low: float, high: float) -> float:
    if low == -inf:
        return high
    return low if high == inf else (low + high) / 2


def _as_root(each: Subscription) -> Subscription:
    """Return a condition alone, as a root."""
    return Subscription(each.body, id=each.id)


DRAIN_BATCH: Final = 64  # of them that go between two answers: a few milliseconds


class DrainingSubscriptions:
    """The subscriptions that are hidden but not removed yet.

    >>> leaving = DrainingSubscriptions()
    >>> leaving.add([7, 9])
    >>> met = BatchMatchIndex(np.array([7, 8, 9]), np.array([0, 1, 2, 1]), np.array([0, 3, 3, 4]))
    >>> left = leaving.without(met)
    >>> left.numbers(0).tolist(), left.numbers(1).tolist(), left.numbers(2).tolist()
    ([8], [], [8])
    >>> leaving.next(), len(leaving)
    ([7, 9], 0)
    """

    def __init__(self) -> None:
        self._left: list[int] = []
        self._sorted: Numbers = NONE

    def __len__(self) -> int:
        return len(self._left)

    def __contains__(self, number: int) -> bool:
        place = int(np.searchsorted(self._sorted, number))
        return place < len(self._sorted) and int(self._sorted[place]) == number

    def add(self, numbers: Iterable[int]) -> None:
        """Let these go, too."""
        self._left += numbers
        self._sorted = np.unique(np.array(self._left, np.int64))

    def next(self, most: int = DRAIN_BATCH) -> list[int]:
        """Remove and return some of them."""
        numbers, self._left = self._left[:most], self._left[most:]
        if not self._left:
            self._sorted = NONE
        return numbers

    def without(self, matches: BatchMatchIndex) -> BatchMatchIndex:
        """Return the matches without those of draining subscriptions."""
        if not self._left:
            return matches
        stays = ~np.isin(matches.named, self._sorted)[matches.index]
        count = len(matches.starts) - 1
        events = np.repeat(np.arange(count), np.diff(matches.starts))[stays]
        scores = None if matches.scores is None else matches.scores[stays]
        return BatchMatchIndex(
            matches.named, matches.index[stays], np.searchsorted(events, np.arange(count + 1)), scores
        )


class ReceivedAnnotations:
    """The annotations that the coordinator sent last."""

    def __init__(self) -> None:
        self.table: AnnotationTable = NO_ANNOTATIONS

    @property
    def problem(self) -> str:
        """Return no problem: the coordinator reads the file."""
        return ""

    def current(self) -> AnnotationTable:
        """Return the current rows."""
        return self.table


class ShardServer:
    """A shard with its matcher; `load` loads a saved one.

    >>> from likewise.language import parse
    >>> from likewise.matching.matcher import Matcher
    >>> portion = ShardServer(NumberedMatcher(Matcher()))
    >>> portion.perform(AddSubscriptions([messages.NewSubscription(7, 1, 0, parse("{no2 > 40}", id="bad air"))]))
    Completed()
    >>> met = portion.perform(MatchEvents([EventSent(9, 0, b'{"v":1,"payload":{"no2":45}}')]))
    >>> np.frombuffer(met.numbers, "<i8").tolist(), np.frombuffer(met.recipients, "<i8").tolist()
    ([7], [1])
    """

    def __init__(
        self,
        matcher: NumberedMatcher,
        load: Callable[[Path], NumberedMatcher] | None = None,
        annotations: ReceivedAnnotations | None = None,
    ) -> None:
        self.matcher = matcher
        self.owner: dict[int, int] = {}
        self._load = load
        self._annotations = annotations
        self._roots: NumberedMatcher | None = None  # of the shares behind proxies
        self._behind: Numbers = NONE  # the share behind each of them
        self._named: Numbers = NONE
        self._owned = OwnerIndex.of([])
        self._draining = DrainingSubscriptions()

    def perform(self, operation: Operation) -> Reply:
        """Do what is wanted; an error of it is an answer, too."""
        try:
            return self._perform(operation)
        except Exception as error:
            return OperationFailed(str(error), type(error).__name__)

    def _perform(self, operation: Operation) -> Reply:
        # One case for each operation of the protocol, none of which depends on another: long, but flat.
        if self._draining and not self._runs_while_draining(operation):
            self._remove_subscriptions(self._draining.next(len(self._draining)))
        match operation:
            case MatchEvents(events=events):
                return self._match(events)
            case WarmUpMatching(sample=events):
                if events:
                    self._match(events)
            case MatchStateful(events=events):
                return self._match_each(events)
            case AddSubscriptions(held=held):
                self._add_subscriptions(held)
            case RemoveSubscriptions(numbers=numbers, slowly=slowly):
                if slowly:
                    self._draining.add(numbers)
                else:
                    self._remove_subscriptions(numbers)
            case UpdateKnowledge():
                self._update_knowledge(operation)
            case WithdrawEvent(position=position):
                return StateChanges([self.matcher.withdraw(position)])
            case Advance(now=now):
                return StateChanges([self._advance(now)])
            case Shift(by=by):
                self.matcher.shift(by)
            case Outage(by=by, until=until):
                self.matcher.outage(by, until)
            case PostponeExpiry(by=by):
                self.matcher.postpone_expiry(by)
            case SuspendAbsence(sources=sources, why=why, at=at, ends=ends):
                (self.matcher.resume_absence if ends else self.matcher.suspend_absence)(sources, why, at)
            case Expect(number=number, key=key, source=source, position=position, at=at, ends=ends):
                if ends:
                    self.matcher.unexpect(number, key, position)
                else:
                    self.matcher.expect(number, key, source, position, at)
            case Expects(number=number, key=key):
                return BooleanReply(self.matcher.expects(number, key))
            case Rename(before=before, after=after):
                self.matcher.rename(before, after)
            case RenameSource(before=before_name, after=after_name):
                self.matcher.rename_source(before_name, after_name)
            case AdoptState(folder=folder):
                self.matcher.adopt(NumberedMatcher(self.matcher.matcher.alike(Path(folder))))
            case SaveShard(folder=folder):
                self.matcher.save(Path(folder))
            case LoadShard():
                self._load_snapshot(operation)
            case SetProxies(roots=roots):
                self._set_proxies(roots)
            case PlanSplit(events=events):
                return plan_split(self.matcher, read_entries(events), [each.at for each in events])
            case WouldMatch(body=body, at=at):
                return StateChanges([self.matcher.would_match(read_event(body, 0), at)])
            case Explain(body=body, number=number, at=at, position=position):
                return ExplanationReply(self.matcher.explain(read_event(body, 0), number, at, position))
            case Board(number=number):
                return BoardReply(self.matcher.board(number))
            case Standings(number=number, limit=limit):
                return StandingsReply(self.matcher.standings(number, limit), self.matcher.count_keys(number))
            case QueryState(positions=positions):
                matcher = self.matcher
                needed = [each for each in positions if matcher.holds_for_long(each) or matcher.names(each)]
                return ShardState(
                    matcher.next_due(), needed, matcher.refused_late, matcher.keyless, matcher.wrong_clocks
                )
            case _:
                raise AssertionError(operation)
        return Completed()

    def _add_subscriptions(self, subscriptions: Sequence[messages.NewSubscription]) -> None:
        new = [each for each in subscriptions if each.number not in self.matcher]
        self.owner.update({each.number: each.owner for each in subscriptions})
        self._named = NONE
        if len(new) == 1:
            self.matcher.add(new[0].number, new[0].subscription, new[0].at)
        elif new:
            self.matcher.add_many([(each.number, each.subscription, each.at) for each in new])

    def _remove_subscriptions(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self.owner.pop(number, None)
            if number in self.matcher:  # its validity may have ended it
                self.matcher.remove(number)

    def _runs_while_draining(self, operation: Operation) -> bool:
        """Return whether an operation can be done while subscriptions are draining."""
        if isinstance(operation, AddSubscriptions):
            return not any(each.number in self._draining for each in operation.held)
        return isinstance(operation, MatchEvents | RemoveSubscriptions | UpdateKnowledge)

    def drain(self) -> None:
        """Do a little of what was put off; to be called after each answer."""
        if self._draining:
            self._remove_subscriptions(self._draining.next())

    def _load_snapshot(self, operation: LoadShard) -> None:
        assert self._load is not None
        self.matcher = self._load(Path(operation.folder))
        if operation.kept is not None:
            numbers = set(operation.kept)
            for number in [number for number, _ in self.matcher.subscriptions() if number not in numbers]:
                self.matcher.remove(number)
        self.owner = dict(operation.owners)
        self._named = NONE

    def _update_knowledge(self, knowledge: UpdateKnowledge) -> None:
        if self._annotations is not None:
            text = knowledge.annotations
            self._annotations.table = read_annotations(text) if text else NO_ANNOTATIONS
        apply_feedback(self.matcher, self.matcher.interpretation.feedback, knowledge)

    # -- matching -------------------------------------------------------------------------------

    def _match(self, events: Sequence[EventSent]) -> BatchMatches:
        failed: dict[int, str] = {}
        entries, at = read_entries(events), [each.at for each in events]
        places = {entry.position: place for place, entry in enumerate(entries)}

        def aside(entry: Entry, error: Exception) -> None:
            failed[places[entry.position]] = f"{type(error).__name__}: {error}"

        matches = self._draining.without(match_guarded(self.matcher, entries, aside, at))
        numbers = matches.named[matches.index].astype("<i8", copy=False)
        counts = np.diff(matches.starts).astype("<i4")
        scores = b"" if matches.scores is None else matches.scores.astype("<f4", copy=False).tobytes()
        behind = self._forwarded(entries, at)
        chosen = np.array([not each.over for each in events], bool)
        delivered = chosen & (counts > 0)
        shares = EventRecipients.of(matches, self._owners(matches.named), delivered)
        return BatchMatches(
            counts.tobytes(),
            numbers.tobytes(),
            scores,
            np.flatnonzero(delivered).astype("<i4").tobytes(),
            np.diff(shares.starts).astype("<i4").tobytes(),
            shares.recipients.astype("<i8", copy=False).tobytes(),
            _packed(matches, shares, delivered),
            shares.owners,
            shares.cuts,
            shares.events.astype("<i4").tobytes(),
            list(failed.items()),
            behind,
        )

    def _set_proxies(self, roots: Sequence[tuple[int, Subscription]]) -> None:
        """Match roots of shards elsewhere, to forward events to them."""
        self._roots = self.matcher.alike() if roots else None
        self._behind = np.array([share for share, _ in roots], np.int64)
        if self._roots is not None:
            self._roots.add_many(
                [(place, msgspec.structs.replace(each, valid_for=None), 0) for place, (_, each) in enumerate(roots)]
            )

    def _forwarded(self, entries: Sequence[Entry], at: Sequence[int]) -> dict[int, bytes]:
        """Return the indexes of events to forward to the shard behind each proxy."""
        if self._roots is None:
            return {}
        indexes = np.arange(len(entries), dtype="<i4")
        unsure: list[int] = []  # what cannot be matched here is looked at there, too
        places = {entry.position: place for place, entry in enumerate(entries)}
        matches = match_guarded(self._roots, entries, lambda entry, error: unsure.append(places[entry.position]), at)
        events = np.repeat(indexes, np.diff(matches.starts))
        shares = self._behind[matches.named[matches.index]]
        return {
            share: np.unique(np.concatenate([events[shares == share], np.array(unsure, "<i4")])).astype("<i4").tobytes()
            for share in set(self._behind.tolist())
        }

    def _owners(self, named: Numbers) -> OwnerIndex:
        """Return the owners of subscriptions, cached as long as the same array names them."""
        if named is not self._named:
            self._named, self._owned = named, OwnerIndex.of([self.owner.get(number, -1) for number in named.tolist()])
        return self._owned

    def _advance(self, now: int) -> list[NumberedMatch]:
        """Advance time step by step, and return the changes with their times, so that shards can be merged in order."""
        matches: list[NumberedMatch] = []
        last, due = None, self.matcher.next_move()
        while due is not None and due <= now and due != last:  # what is not moved by then follows below
            matches += [each._replace(due=due) for each in self.matcher.advance(due)]
            last, due = due, self.matcher.next_move()
        return matches + [each._replace(due=now) for each in self.matcher.advance(now)]

    def _match_each(self, events: Sequence[EventSent]) -> StateChanges:
        matches: list[list[NumberedMatch]] = []
        failed: list[tuple[int, str]] = []
        for place, (each, entry) in enumerate(zip(events, read_entries(events), strict=True)):
            try:
                event = entry.value
                assert isinstance(event, Event)
                if each.lasting:
                    event = msgspec.structs.replace(event, expires=None)
                if each.received is not None:
                    event = msgspec.structs.replace(event, received=each.received)
                due = self.matcher.next_due()  # what alerts say before the event comes
                before = [] if due is None or due > each.at else self._advance(each.at)
                matches.append(before + self.matcher.match(each.position, event, each.at))
            except Exception as error:
                matches.append([])
                failed.append((place, f"{type(error).__name__}: {error}"))
        return StateChanges(matches, failed)


def _packed(
    matches: BatchMatchIndex, shares: EventRecipients, delivered: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> list[tuple[bytes, bytes]]:
    """Encode recipients and matched subscriptions of each delivered event as in the store."""
    known: dict[bytes, bytes] = {}  # recipients of neighbours are often the same
    rows = []
    for event in np.flatnonzero(delivered).tolist():
        to = shares.recipients[shares.starts[event] : shares.starts[event + 1]]
        key = to.tobytes()
        if (recipients := known.get(key)) is None:
            recipients = known[key] = pack(to)
        rows.append((recipients, pack(matches.numbers(event))))
    return rows


def apply_feedback(matcher: NumberedMatcher, feedback: Feedback, knowledge: UpdateKnowledge) -> None:
    """Let judgements hold that are said, and no others."""
    now, before = {each.number: each for each in knowledge.judgements}, {each.number: each for each in feedback}
    changed = [each for number, each in before.items() if now.get(number) != each]
    for each in changed:
        feedback.undo(each.number)
    new = [each for number, each in now.items() if before.get(number) != each]
    feedback.restore(new)
    for each in (*changed, *new):
        matcher.forget_relatedness(judged_by(each.pairs))


def read_entries(events: Sequence[EventSent]) -> list[Entry]:
    """Decode events as entries of the log, in columns where possible."""
    if events and not any(is_written(each.body) for each in events):
        try:
            batch = decode_each([each.body for each in events])
            if batch.columnar:
                return [
                    Entry(0, EVENT, BatchedEvent(batch, place), each.body, position=each.position)
                    for place, each in enumerate(events)
                ]
        except LikewiseError:  # one by one it is seen which
            pass
    return [Entry(0, EVENT, read_event(each.body, each.position), each.body, position=each.position) for each in events]
