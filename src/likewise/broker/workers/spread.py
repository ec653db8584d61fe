"""A tenant's matcher whose subscriptions stand in shares, wherever those are.

It answers as a `NumberedMatcher` does. What changes subscriptions, time or windows is said to the shares; each share
does what it is told in that order, so nobody has to wait for it. Answers of several shares are put together by number.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise.broker.store.entries import event_body
from likewise.broker.store.packed_sets import Numbers
from likewise.broker.tenants.met_events import MetEvents
from likewise.broker.tenants.numbered_matcher import Found, NumberedMatcher, RankedEvent
from likewise.broker.workers.crew import Crew, Share, failure, remove_folder
from likewise.broker.workers.messages import (
    Adopt,
    Advance,
    Answers,
    Ask,
    Board,
    EventSent,
    Excuse,
    Expect,
    Expects,
    Explain,
    Explained,
    Failed,
    Know,
    MatchEach,
    Moved,
    NewSubscription,
    Operation,
    Outage,
    Ranked,
    Rename,
    Said,
    Save,
    Shift,
    Standings,
    Stood,
    Withdrawn,
    WouldMatch,
    Yes,
)  # fmt: skip
from likewise.errors import UnknownId
from likewise.matching.matcher import Matcher
from likewise.model import Event, Explanation, Kind, Subscription
from likewise.model.alerts.spoken import Key, Why
from likewise.model.alerts.standing import KeyStanding
from likewise.semantics.annotations.rows import write_annotations
from likewise.semantics.annotations.table import NO_ANNOTATIONS, Annotations
from likewise.semantics.feedback import Judgement

S = TypeVar("S", Answers, Explained, Moved, Ranked, Stood, Yes)
SHARES: Final = "shares"  # where a spread matcher is saved: one folder a share
TABLE: Final = 2**25  # numbers up to which a table says where each stands; beyond they are looked for


class SpreadMatcher(NumberedMatcher):
    """A tenant's subscriptions in shares; `matcher` holds none and says how words are taken."""

    def __init__(self, empty: Matcher, tenant: int, crew: Crew, *, remembers: bool) -> None:
        super().__init__(empty)
        self.remembers = remembers
        self.shares: list[Share] = []
        self._tenant = tenant
        self.crew = crew
        self._of: dict[int, Share] = {}
        self._kinds: set[Kind] = set()
        self._annotations: Annotations = NO_ANNOTATIONS
        self._judgements: list[Judgement] = []
        self._answers: dict[int, Answers] = {}  # what was heard last
        self._reached: int | None = None
        self.excuses: dict[Why, set[str]] = {"unreachable": set(), "resting": set()}
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
        """The kinds of subscriptions it has held so far."""
        return frozenset(self._kinds)

    def subscriptions(self) -> Iterator[tuple[int, Subscription]]:
        """The subscriptions with their numbers, in the order of addition."""
        return ((number, self._of[number].held[number].subscription) for number in sorted(self._of))

    def numbers(self) -> Numbers:
        """The numbers of all subscriptions, ascending; the same array as long as none comes or goes."""
        if self._numbered != self.version:
            self._numbered, self._named = self.version, np.array(sorted(self._of), np.int64)
            self._table = None
            if self._of and self._named[-1] - self._named[0] < TABLE:
                self._table = np.zeros(int(self._named[-1] - self._named[0]) + 1, np.int32)
                self._table[self._named - self._named[0]] = np.arange(len(self._named), dtype=np.int32)
        return self._named

    def places_of(self, numbers: Numbers) -> NDArray[np.integer[Any]]:
        """Where some of them stand among `numbers`."""
        named = self.numbers()
        if self._table is not None and len(numbers):
            found: NDArray[np.int32] = self._table[numbers - named[0]]
            return found
        return np.searchsorted(named, numbers)

    # -- shares ---------------------------------------------------------------------------------

    def join(self, share: Share) -> None:
        """Let a share be one of its own, with what it holds."""
        self.shares.append(share)
        for number, each in share.held.items():
            self._of[number] = share
            self._kinds.add(each.subscription.kind)
            self._note_end(each)
        self.version += 1

    def leave(self, share: Share) -> None:
        """Let a share be one of its own no longer; what it holds must be elsewhere by then."""
        self.shares.remove(share)
        self.version += 1

    def moves(self, numbers: Sequence[int], share: Share) -> None:
        """Subscriptions stand in another share from here on."""
        for number in numbers:
            self._of[number] = share
        self.version += 1

    def share_of(self, number: int) -> Share:
        """Where a subscription stands."""
        found = self._of.get(number)
        if found is None:
            raise UnknownId(str(number))
        return found

    def _choose(self, number: int, subscription: Subscription) -> Share:
        """The share that takes a new subscription: the smallest; behind proxies there is none for it."""
        return min((share for share in self.shares if share.parent is None), key=lambda share: len(share.held))

    # -- subscriptions --------------------------------------------------------------------------

    def add(self, number: int, subscription: Subscription, at: int, owner: int = 0) -> None:
        """Hold a subscription under a number; one that no engine would take is refused here."""
        self.matcher.alike().add(subscription, at=at)
        self.know()
        share = self._choose(number, subscription)
        new, fresh = NewSubscription(number, owner, at, subscription), not share.held
        tickets = self.crew.hold(share, [new])
        if fresh and self.remembers and self._reached is not None:  # it is no earlier there than elsewhere
            tickets += self.crew.change(share, Advance(self._reached))
        for why, sources in self.excuses.items() if fresh else ():
            if sources:
                tickets += self.crew.change(share, Excuse(sorted(sources), why, self._reached or at))
        self._of[number] = share
        self._kinds.add(subscription.kind)
        self._note_end(new)
        self.version += 1
        for ticket in tickets:
            said = self.crew.wait(ticket)
            if isinstance(said, Failed):
                self.remove(number)
                raise failure(said)

    def add_many(self, numbered: Sequence[tuple[int, Subscription, int]]) -> None:
        """Hold subscriptions under numbers, one by one."""
        for number, subscription, at in numbered:
            self.add(number, subscription, at)

    def remove(self, number: int) -> None:
        """Hold a subscription no longer."""
        share = self.share_of(number)
        del self._of[number]
        self.version += 1
        self.crew.let_go(share, [number])

    def _note_end(self, new: NewSubscription) -> None:
        if new.subscription.valid_for is not None:
            heapq.heappush(self._ends, (new.at + new.subscription.valid_for, new.number))

    @property
    def first_end(self) -> int | None:
        """When the first validity is over."""
        while self._ends and self._ends[0][1] not in self._of:
            heapq.heappop(self._ends)
        return self._ends[0][0] if self._ends else None

    def end_validity(self, now: int) -> None:
        """Let go of what is over by now: every share at once, whichever of them saw the event that says so."""
        while (end := self.first_end) is not None and end <= now:
            self.remove(heapq.heappop(self._ends)[1])

    # -- what holds for all of them -------------------------------------------------------------

    def know(self) -> None:
        """Tell the shares of annotations and judgements, if others hold than they were told."""
        by = self.matcher.interpretation
        rows, judgements = by.annotations.current(), list(by.feedback)
        if rows is self._annotations and judgements == self._judgements:
            return
        self._annotations, self._judgements = rows, judgements
        known = Know(write_annotations(rows) if len(rows) else "", judgements)
        for share in self.shares:
            self.crew.know(share, known)

    @property
    def known(self) -> Know:
        """What a new share is told of annotations and judgements."""
        rows = self._annotations
        return Know(write_annotations(rows) if len(rows) else "", self._judgements)

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Judgements changed: the shares are told, and drop what these concern."""
        self.know()

    # -- matching -------------------------------------------------------------------------------

    def _said(self, said: Said, kind: type[S]) -> S:
        if isinstance(said, Failed):
            raise failure(said)
        assert isinstance(said, kind), said
        return said

    def _each(self, wanted: Operation, *, changes: bool) -> list[Said]:
        """What all shares say to one thing."""
        crew, busy = self.crew, [share for share in self.shares if share.held or changes]
        if changes:
            asked = [crew.change(share, wanted)[0] for share in busy]
        else:
            asked = [crew.ask(share, wanted) for share in busy]
        return [crew.wait(ticket) for ticket in asked]

    def _found(self, wanted: Operation, *, changes: bool) -> list[Found]:
        found = [
            each
            for said in self._each(wanted, changes=changes)
            for hits in self._said(said, Moved).found
            for each in hits
        ]
        return found if len(self.shares) == 1 else sorted(found, key=lambda each: each.number)

    def match(self, position: int, event: Event, at: int) -> list[Found]:
        """What an event at a position meets, and what it promotes."""
        if not self.remembers:
            return self.would_match(event, at)
        self.know()
        self.reach(at)
        return self._found(MatchEach([EventSent(position, at, event_body(event))]), changes=True)

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> MetEvents:
        """Stretches of events go to shares by `stretch`, never through here."""
        raise AssertionError("stretches are dispatched, not matched here")

    def would_match(self, event: Event, at: int) -> list[Found]:
        """What an event would meet; nothing changes."""
        self.know()
        return self._found(WouldMatch(event_body(event), at), changes=False)

    def explain(self, event: Event, number: int, at: int, position: int | None = None) -> Explanation:
        """Why an event, at a position if it is stored, meets a subscription, or why not."""
        wanted = Explain(event_body(event), number, at, position)
        return self._said(self.crew.wait(self.crew.ask(self.share_of(number), wanted)), Explained).explanation

    def board(self, number: int) -> list[RankedEvent]:
        """The k best of a window now."""
        return self._said(self.crew.wait(self.crew.ask(self.share_of(number), Board(number))), Ranked).places

    def standings(self, number: int, limit: int) -> list[KeyStanding]:
        """The keys of an alert, those first of which something was said."""
        return self._stood(number, limit).keys

    def count_keys(self, number: int) -> int:
        """How many keys of an alert have a state."""
        return self._stood(number, 1).total

    def _stood(self, number: int, limit: int) -> Stood:
        return self._said(self.crew.wait(self.crew.ask(self.share_of(number), Standings(number, limit))), Stood)

    def withdraw(self, position: int) -> list[Found]:
        """Take an event out of the windows; what takes its place."""
        return self._found(Withdrawn(position), changes=True)

    @property
    def reached(self) -> int | None:
        """The moment its windows or alerts have come to."""
        return self._reached

    def reach(self, now: int | None) -> None:
        """They have come to a moment."""
        if now is not None and self._of:
            self._reached = now if self._reached is None else max(self._reached, now)

    def advance(self, now: int) -> list[Found]:
        """Let time pass; what is promoted by it."""
        self.reach(now)
        return self._found(Advance(now), changes=True)

    def shift(self, by: int) -> None:
        """Let everything in the windows count as so many µs later, earlier if negative."""
        if self._reached is not None:
            self._reached += by
        for share in self.shares:
            self.crew.change(share, Shift(by))

    def outage(self, by: int, until: int | None = None) -> None:
        """Nothing could be heard for so long (µs), until a moment."""
        for share in self.shares:
            self.crew.change(share, Outage(by, until))

    def excuse(self, sources: Iterable[str], why: Why, at: int) -> None:
        """From now on the silence of some sources means nothing."""
        self._excuse(set(sources), why, at, ends=False)

    def end_excuse(self, sources: Iterable[str], why: Why, at: int) -> None:
        """It counts again."""
        self._excuse(set(sources), why, at, ends=True)

    def _excuse(self, sources: set[str], why: Why, at: int, *, ends: bool) -> None:
        if not any(share.begun for share in self.shares):
            return  # nobody waits for anything
        known = self.excuses[why]
        self.excuses[why] = known - sources if ends else known | sources
        for share in self.shares:
            self.crew.change(share, Excuse(sorted(sources), why, at, ends))

    def excused(self, why: Why) -> set[str]:
        """The sources whose silence means nothing."""
        return set(self.excuses[why])

    def expect(self, number: int, key: Key, source: str, position: int, at: int) -> None:
        """Something is to come from a key of an alert, as an event at a position says."""
        self.crew.change(self.share_of(number), Expect(number, key, source, position, at))

    def unexpect(self, number: int, key: Key, position: int) -> None:
        """It is not to come any more."""
        self.crew.change(self.share_of(number), Expect(number, key, "", position, 0, ends=True))

    def expects(self, number: int, key: Key) -> bool:
        """Whether an alert knows a key."""
        if number not in self._of:
            return False
        return self._said(self.crew.wait(self.crew.ask(self.share_of(number), Expects(number, key))), Yes).so

    def rename(self, before: int, after: int) -> None:
        """What a source announced is said by another event now."""
        for share in self.shares:
            self.crew.change(share, Rename(before, after))

    def adopt(self, other: NumberedMatcher) -> None:
        """Take over what another knows of the alerts that this one holds, too."""
        folder = self.crew.new_folder("adopted")
        other.save(folder)
        self.reach(other.reached)
        for said in self._each(Adopt(str(folder)), changes=True):
            if isinstance(said, Failed):
                raise failure(said)
        if not any(host.number >= 0 for share in self.shares for host in share.hosts):
            remove_folder(folder)  # else a journal may need it again; it goes with the crew

    # -- what is asked of all -------------------------------------------------------------------

    def _ask(self, positions: Sequence[int]) -> list[Answers]:
        found = [self._said(said, Answers) for said in self._each(Ask(list(positions)), changes=False)]
        self._answers = dict(enumerate(found))
        return found

    def next_due(self) -> int | None:
        """When time next moves an alert, or an earlier moment."""
        return min((each.next_due for each in self._ask(()) if each.next_due is not None), default=None)

    def needed(self, positions: Sequence[int]) -> set[int]:
        """Which of some events windows or alerts still need."""
        return {position for each in self._ask(positions) for position in each.needed}

    def names(self, position: int) -> bool:
        """Whether what an alert says next may name an event."""
        return position in self.needed([position])

    def holds_for_long(self, position: int) -> bool:
        """Whether an event is in a window that no passing of time takes it out of."""
        return position in self.needed([position])

    @property
    def refused_late(self) -> int:
        """How many events came too late for any window, as of the last time shares were asked."""
        return max((each.refused_late for each in self._answers.values()), default=0)

    @property
    def keyless(self) -> int:
        """How many events lacked an attribute of an alert's `per`, as of the last time shares were asked."""
        return sum(each.keyless for each in self._answers.values())

    # -- keeping --------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Save what it holds: one share as any matcher, several side by side."""
        full = [share for share in self.shares if share.held]
        if len(full) > 1:
            self.matcher.save(folder)
            places = [folder / SHARES / str(place) for place, _ in enumerate(full)]
        else:
            places = [folder for _ in full]
            if not full:
                self.matcher.save(folder)
        asked = [self.crew.ask(share, Save(str(place))) for share, place in zip(full, places, strict=True)]
        self.crew.wait_all(asked)
