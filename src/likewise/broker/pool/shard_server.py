"""What stands in one place of one tenant's subscriptions, and what it answers: the same here and in a process.

`Portion.perform` is all that a share can be asked to do. A worker calls it for what comes over its socket; who has no
process calls it directly. So both give the same answers.

Subscriptions that a share lets go of a few at a time: the share goes on answering, and says nothing of them.

Half of a large share takes seconds to let go of. Done at once, events would wait so long when a worker splits.

Which part of a share goes behind a proxy: the heaviest subtrees of its covering forest, by measured matching time.

A forest takes time that grows with the square of what it holds. Above `FOREST` subscriptions, and where hardly any
covers another, the part is a cluster instead: conditions that bound one attribute, with one root that bounds them all.
Either way `covers` has the last word on what may stand behind a root.
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
    """What of a matcher's exact subscriptions can stand behind a proxy, about half of them by weight."""
    held = {number: each for number, each in matcher.subscriptions() if each.kind == "exact"}
    found = _subtrees(matcher, held, entries, at) if len(held) <= FOREST else None
    return found if found is not None and found.numbers else _cluster(held)


def _subtrees(
    matcher: NumberedMatcher, held: Conditions, entries: Sequence[Entry], at: Sequence[int]
) -> SplitPlan | None:
    """The heaviest trees of the forest, less their roots, until they weigh half; None if they hold hardly anything."""
    forest = ForestEngine(types=matcher.interpretation.types)
    for number, each in held.items():
        forest.add(number, each, 0)
    trees = sorted((tree for tree in forest.trees() if tree[1]), key=lambda tree: -len(tree[1]))
    if sum(len(below) for _, below in trees) < len(held) / 4:
        return None
    weighed = [(_weight(matcher, held, below, entries, at), roots[0], below) for roots, below in trees[:WEIGHED]]
    weighed.sort(reverse=True)
    total, taken = sum(weight for weight, _, _ in weighed), 0.0
    numbers, chosen = list[int](), list[Subscription]()
    for weight, root, below in weighed:
        if numbers and taken + weight > total / 2:
            continue
        taken += weight
        numbers += below
        chosen.append(_as_root(held[root]))
    return SplitPlan(sorted(numbers), chosen)


def _weight(
    matcher: NumberedMatcher, held: Conditions, numbers: Sequence[int], entries: Sequence[Entry], at: Sequence[int]
) -> float:
    """The seconds that matching some events against some subscriptions takes; without events, how many they are."""
    if not entries:
        return float(len(numbers))
    alone = matcher.alike()
    alone.add_many([(number, msgspec.structs.replace(held[number], valid_for=None), 0) for number in sorted(numbers)])
    events = events_of(entries)
    alone.match_batch(events, at)  # what is kept of words is there from now on
    begun = time.thread_time()
    alone.match_batch(events, at)
    return time.thread_time() - begun


def _cluster(held: Conditions) -> SplitPlan:
    """The upper half of the conditions that bound one attribute, the one that most of them bound."""
    table = PredicateTable()
    bounds: dict[str, dict[int, tuple[float, float]]] = {}
    for number, each in held.items():
        assert isinstance(each.body, Condition)
        conjunctions = each.body.conjunctions()
        if len(conjunctions) > 1:
            continue
        for entry in table.acquire(conjunctions[0]).positive:
            if entry.bounds is not None:
                bounds.setdefault(entry.attribute, {})[number] = entry.bounds
    if not bounds:
        return SplitPlan([], [])
    attribute, own = max(bounds.items(), key=lambda item: len(item[1]))
    order = sorted(own, key=lambda number: _middle(*own[number]))
    half = order[len(order) // 2 :]
    low, high = min(own[number][0] for number in half), max(own[number][1] for number in half)
    sides = [Predicate(attribute, ">=", low)] if low > -inf else []
    sides += [Predicate(attribute, "<=", high)] if high < inf else []
    root = Condition(tuple(sides) if sides else (Predicate(attribute, "exists", None),))
    return SplitPlan(sorted(n for n in half if _covered(root, held[n])), [Subscription(root, id="root")])


def _covered(root: Condition, each: Subscription) -> bool:
    return isinstance(each.body, Condition) and covers(root, each.body)


def _middle(low: float, high: float) -> float:
    if low == -inf:
        return high
    return low if high == inf else (low + high) / 2


def _as_root(each: Subscription) -> Subscription:
    """A condition alone, as a root."""
    return Subscription(each.body, id=each.id)


DRAIN_BATCH: Final = 64  # of them that go between two answers: a few milliseconds


class DrainingSubscriptions:
    """The numbers of subscriptions that are on their way out.

    >>> leaving = Leaving()
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
        """Some of them, which are gone from here on."""
        numbers, self._left = self._left[:most], self._left[most:]
        if not self._left:
            self._sorted = NONE
        return numbers

    def without(self, met: BatchMatchIndex) -> BatchMatchIndex:
        """What events met, but for what is leaving."""
        if not self._left:
            return met
        stays = ~np.isin(met.named, self._sorted)[met.index]
        count = len(met.starts) - 1
        events = np.repeat(np.arange(count), np.diff(met.starts))[stays]
        scores = None if met.scores is None else met.scores[stays]
        return BatchMatchIndex(met.named, met.index[stays], np.searchsorted(events, np.arange(count + 1)), scores)


class ReceivedAnnotations:
    """The annotations as the coordinator said them last."""

    def __init__(self) -> None:
        self.table: AnnotationTable = NO_ANNOTATIONS

    @property
    def problem(self) -> str:
        """Files are read by the coordinator, so there is none here."""
        return ""

    def current(self) -> AnnotationTable:
        """The rows that hold now."""
        return self.table


class ShardServer:
    """A share of a tenant's subscriptions, with the matcher that holds it; `load` makes one of what was saved.

    >>> from likewise.language import parse
    >>> from likewise.matching.matcher import Matcher
    >>> portion = Portion(NumberedMatcher(Matcher()))
    >>> portion.perform(Hold([messages.NewSubscription(7, 1, 0, parse("{no2 > 40}", id="bad air"))]))
    Done()
    >>> met = portion.perform(Match([EventSent(9, 0, b'{"v":1,"payload":{"no2":45}}')]))
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

    def perform(self, wanted: Operation) -> Reply:
        """Do what is wanted; an error of it is an answer, too."""
        try:
            return self._perform(wanted)
        except Exception as error:
            return OperationFailed(str(error), type(error).__name__)

    def _perform(self, wanted: Operation) -> Reply:
        if self._draining and not self._runs_while_draining(wanted):
            self._remove_subscriptions(self._draining.next(len(self._draining)))
        match wanted:
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
                self._update_knowledge(wanted)
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
                self.matcher.adopt(NumberedMatcher(self.matcher.matcher.alike_from(Path(folder))))
            case SaveShard(folder=folder):
                self.matcher.save(Path(folder))
            case LoadShard():
                self._load_snapshot(wanted)
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
                own = self.matcher
                needed = [each for each in positions if own.holds_for_long(each) or own.names(each)]
                return ShardState(own.next_due(), needed, own.refused_late, own.keyless, own.wrong_clocks)
            case _:
                raise AssertionError(wanted)
        return Completed()

    def _add_subscriptions(self, held: Sequence[messages.NewSubscription]) -> None:
        new = [each for each in held if each.number not in self.matcher]
        self.owner.update({each.number: each.owner for each in held})
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

    def _runs_while_draining(self, wanted: Operation) -> bool:
        """Whether something can be done while some subscriptions are on their way out."""
        if isinstance(wanted, AddSubscriptions):
            return not any(each.number in self._draining for each in wanted.held)
        return isinstance(wanted, MatchEvents | RemoveSubscriptions | UpdateKnowledge)

    def drain(self) -> None:
        """Do a little of what was put off; to be called after each answer."""
        if self._draining:
            self._remove_subscriptions(self._draining.next())

    def _load_snapshot(self, wanted: LoadShard) -> None:
        assert self._load is not None
        self.matcher = self._load(Path(wanted.folder))
        if wanted.kept is not None:
            kept = set(wanted.kept)
            for number in [number for number, _ in self.matcher.subscriptions() if number not in kept]:
                self.matcher.remove(number)
        self.owner = dict(wanted.owners)
        self._named = NONE

    def _update_knowledge(self, wanted: UpdateKnowledge) -> None:
        if self._annotations is not None:
            text = wanted.annotations
            self._annotations.table = read_annotations(text) if text else NO_ANNOTATIONS
        apply_feedback(self.matcher, self.matcher.interpretation.feedback, wanted)

    # -- matching -------------------------------------------------------------------------------

    def _match(self, events: Sequence[EventSent]) -> BatchMatches:
        failed: dict[int, str] = {}
        entries, at = read_entries(events), [each.at for each in events]
        places = {entry.position: place for place, entry in enumerate(entries)}

        def aside(entry: Entry, error: Exception) -> None:
            failed[places[entry.position]] = f"{type(error).__name__}: {error}"

        met = self._draining.without(match_guarded(self.matcher, entries, aside, at))
        numbers = met.named[met.index].astype("<i8", copy=False)
        counts = np.diff(met.starts).astype("<i4")
        scores = b"" if met.scores is None else met.scores.astype("<f4", copy=False).tobytes()
        behind = self._forwarded(entries, at)
        chosen = np.array([not each.over for each in events], bool)
        given = chosen & (counts > 0)
        shares = EventRecipients.of(met, self._owners(met.named), given)
        return BatchMatches(
            counts.tobytes(),
            numbers.tobytes(),
            scores,
            np.flatnonzero(given).astype("<i4").tobytes(),
            np.diff(shares.starts).astype("<i4").tobytes(),
            shares.recipients.astype("<i8", copy=False).tobytes(),
            _packed(met, shares, given),
            shares.owners,
            shares.cuts,
            shares.events.astype("<i4").tobytes(),
            list(failed.items()),
            behind,
        )

    def _set_proxies(self, roots: Sequence[tuple[int, Subscription]]) -> None:
        """Have these roots in front of shares elsewhere."""
        self._roots = self.matcher.alike() if roots else None
        self._behind = np.array([share for share, _ in roots], np.int64)
        if self._roots is not None:
            self._roots.add_many(
                [(place, msgspec.structs.replace(each, valid_for=None), 0) for place, (_, each) in enumerate(roots)]
            )

    def _forwarded(self, entries: Sequence[Entry], at: Sequence[int]) -> dict[int, bytes]:
        """The places of events that may meet something behind each proxy."""
        if self._roots is None:
            return {}
        everything = np.arange(len(entries), dtype="<i4")
        unsure: list[int] = []  # what cannot be matched here is looked at there, too
        places = {entry.position: place for place, entry in enumerate(entries)}
        met = match_guarded(self._roots, entries, lambda entry, error: unsure.append(places[entry.position]), at)
        events = np.repeat(everything, np.diff(met.starts))
        shares = self._behind[met.named[met.index]]
        return {
            share: np.unique(np.concatenate([events[shares == share], np.array(unsure, "<i4")])).astype("<i4").tobytes()
            for share in set(self._behind.tolist())
        }

    def _owners(self, named: Numbers) -> OwnerIndex:
        """Whose subscriptions are; found once as long as the same array names them."""
        if named is not self._named:
            self._named, self._owned = named, OwnerIndex.of([self.owner.get(number, -1) for number in named.tolist()])
        return self._owned

    def _advance(self, now: int) -> list[NumberedMatch]:
        """What time brings about up to a moment, each with when: so that several shares' can be put in order."""
        found: list[NumberedMatch] = []
        last, due = None, self.matcher.next_move()
        while due is not None and due <= now and due != last:  # what is not moved by then follows below
            found += [each._replace(due=due) for each in self.matcher.advance(due)]
            last, due = due, self.matcher.next_move()
        return found + [each._replace(due=now) for each in self.matcher.advance(now)]

    def _match_each(self, events: Sequence[EventSent]) -> StateChanges:
        found: list[list[NumberedMatch]] = []
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
                found.append(before + self.matcher.match(each.position, event, each.at))
            except Exception as error:
                found.append([])
                failed.append((place, f"{type(error).__name__}: {error}"))
        return StateChanges(found, failed)


def _packed(
    met: BatchMatchIndex, shares: EventRecipients, given: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> list[tuple[bytes, bytes]]:
    """Who gets each event that somebody gets, and for what, as the store keeps them."""
    known: dict[bytes, bytes] = {}  # recipients of neighbours are often the same
    found = []
    for event in np.flatnonzero(given).tolist():
        to = shares.recipients[shares.starts[event] : shares.starts[event + 1]]
        said = to.tobytes()
        if (recipients := known.get(said)) is None:
            recipients = known[said] = pack(to)
        found.append((recipients, pack(met.numbers(event))))
    return found


def apply_feedback(matcher: NumberedMatcher, feedback: Feedback, wanted: UpdateKnowledge) -> None:
    """Let judgements hold that are said, and no others."""
    now, before = {each.number: each for each in wanted.judgements}, {each.number: each for each in feedback}
    changed = [each for number, each in before.items() if now.get(number) != each]
    for each in changed:
        feedback.undo(each.number)
    new = [each for number, each in now.items() if before.get(number) != each]
    feedback.restore(new)
    for each in (*changed, *new):
        matcher.forget_relatedness(judged_by(each.pairs))


def read_entries(events: Sequence[EventSent]) -> list[Entry]:
    """Events as entries of the log, read into columns where they can be."""
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
