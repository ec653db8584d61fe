"""Which share of a tenant holds which subscription, and what all its shares know.

A new subscription goes to the smallest share, an alert to its kin. Numbers ascend over all shares, so that what
several of them find is put together by number. A validity that ends is noticed here, for all shares at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from likewise.broker.log.packed_sets import Numbers
from likewise.broker.pool.co_location import Kin, kin
from likewise.broker.pool.messages import Advance, Answers, Excuse, Failed, Know, NewSubscription
from likewise.broker.pool.pool import Crew, failure
from likewise.broker.pool.shard import Share
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.errors import UnknownId
from likewise.matching.matcher import Matcher
from likewise.model import Kind, Subscription
from likewise.model.alerts.notification import Why
from likewise.semantics.enrichment.rows import write_annotations
from likewise.semantics.enrichment.table import NO_ANNOTATIONS, Annotations
from likewise.semantics.feedback import Judgement

TABLE: Final = 2**25  # numbers up to which a table says where each stands; beyond they are looked for


class HeldInShares(NumberedMatcher):
    """A tenant's subscriptions in shares; `matcher` holds none and says how words are taken."""

    def __init__(self, empty: Matcher, tenant: int, crew: Crew, *, remembers: bool) -> None:
        super().__init__(empty)
        self.remembers = remembers
        self.shares: list[Share] = []
        self._tenant = tenant
        self.crew = crew
        self._of: dict[int, Share] = {}
        self._kinds: set[Kind] = set()
        self._kin: dict[Kin, dict[int, None]] = {}
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
            self._note(each)
        self.version += 1

    def takes_over(self, share: Share) -> None:
        """Let a share be one of its own that takes over what another held: the same subscriptions, elsewhere."""
        self.shares.append(share)
        self._of.update(dict.fromkeys(share.held, share))

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
        """The share that takes a new subscription: that of its kin, else the smallest; none behind a proxy does."""
        if (same := kin(subscription)) is not None and (related := self._kin.get(same)):
            return self._of[next(iter(related))]
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
        self._note(new)
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
        if (same := kin(share.held[number].subscription)) is not None:
            self._kin[same].pop(number, None)
            if not self._kin[same]:
                del self._kin[same]
        del self._of[number]
        self.version += 1
        self.crew.let_go(share, [number])

    def _note(self, new: NewSubscription) -> None:
        self._kinds.add(new.subscription.kind)
        if (same := kin(new.subscription)) is not None:
            self._kin.setdefault(same, {})[new.number] = None
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
