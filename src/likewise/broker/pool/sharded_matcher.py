"""A tenant's matcher whose subscriptions stand in shares, wherever those are.

It answers as a `NumberedMatcher` does. What changes subscriptions, time or windows is said to the shares; each share
does what it is told in that order, so nobody has to wait for it. Answers of several shares are put together by number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, TypeVar

from likewise.broker.log.entries import event_body
from likewise.broker.pool.messages import (
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
    MatchEach,
    Moved,
    Operation,
    Outage,
    PostponeExpiry,
    Ranked,
    Rename,
    RenameSource,
    Said,
    Save,
    Shift,
    Standings,
    Stood,
    Withdrawn,
    WouldMatch,
    Yes,
)
from likewise.broker.pool.pool import failure
from likewise.broker.pool.processes.folders import remove_folder
from likewise.broker.pool.shard_map import HeldInShares
from likewise.broker.tenants.matched_events import MetEvents
from likewise.broker.tenants.numbered_matcher import Found, NumberedMatcher, RankedEvent
from likewise.model import Event, Explanation
from likewise.model.alerts.alert_state import KeyStanding
from likewise.model.alerts.notification import Key, Why

S = TypeVar("S", Answers, Explained, Moved, Ranked, Stood, Yes)
SHARES: Final = "shares"  # where a spread matcher is saved: one folder a share


class SpreadMatcher(HeldInShares):
    """A tenant's matcher in shares: asks them, and puts together what they say."""

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
        return found if len(self.shares) == 1 else sorted(found, key=lambda each: each.order)

    def match(self, position: int, event: Event, at: int) -> list[Found]:
        """What an event at a position meets, and what it promotes."""
        if not self.remembers:
            return self.would_match(event, at)
        self.know()
        self.reach(at)
        return self._found(MatchEach([EventSent(position, at, event_body(event))]), changes=True)

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> MetEvents:
        """Stretches of events go to shares by `batch_job`, never through here."""
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

    def postpone_expiry(self, by: int) -> None:
        """Let a time (µs) in which nothing came at all bring no key nearer to being forgotten."""
        for share in self.shares:
            self.crew.change(share, PostponeExpiry(by))

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

    def rename_source(self, before: str, after: str | None) -> None:
        """Let what alerts know of a source count for another, or for nobody."""
        for share in self.shares:
            self.crew.change(share, RenameSource(before, after))

    def adopt(self, other: NumberedMatcher) -> None:
        """Take over what another knows of the alerts that this one holds, too."""
        folder = self.crew.folders.new("adopted")
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

    @property
    def wrong_clocks(self) -> dict[str, tuple[int, int]]:
        """Sources whose clock fell back, as of the last time shares were asked."""
        return {source: said for each in self._answers.values() for source, said in each.wrong_clocks.items()}

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
