"""What stands in one place of one tenant's subscriptions, and what it answers: the same here and in a process.

`Portion.perform` is all that a share can be asked to do. A worker calls it for what comes over its socket; who has no
process calls it directly. So both give the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from likewise.broker.log.deliveries import Whose
from likewise.broker.log.entries import EVENT, Entry, InBatch, is_written, read_event
from likewise.broker.log.packed_sets import NONE, Numbers, pack
from likewise.broker.pool import messages
from likewise.broker.pool.drain import Leaving
from likewise.broker.pool.messages import (
    Adopt,
    Advance,
    Answers,
    Ask,
    Board,
    Done,
    EventSent,
    Excuse,
    Expect,
    Expects,
    Explain,
    Explained,
    Failed,
    Hold,
    Know,
    LetGo,
    Load,
    Match,
    MatchEach,
    Matched,
    Moved,
    Operation,
    Outage,
    Plan,
    PostponeExpiry,
    Proxies,
    Ranked,
    Rehearse,
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
from likewise.broker.pool.split_plan import plan
from likewise.broker.tenants.match_guarded import match_guarded
from likewise.broker.tenants.matched_events import MetEvents, Shares
from likewise.broker.tenants.numbered_matcher import Found, NumberedMatcher
from likewise.errors import LikewiseError
from likewise.formats.json.batches import read_each
from likewise.model import Event, Subscription
from likewise.semantics.enrichment.rows import read_annotations
from likewise.semantics.enrichment.table import NO_ANNOTATIONS, Annotations
from likewise.semantics.feedback import Feedback, concerns


class TakenAnnotations:
    """The annotations as the coordinator said them last."""

    def __init__(self) -> None:
        self.table: Annotations = NO_ANNOTATIONS

    @property
    def problem(self) -> str:
        """Files are read by the coordinator, so there is none here."""
        return ""

    def current(self) -> Annotations:
        """The rows that hold now."""
        return self.table


class Portion:
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
        annotations: TakenAnnotations | None = None,
    ) -> None:
        self.matcher = matcher
        self.owner: dict[int, int] = {}
        self._load = load
        self._annotations = annotations
        self._roots: NumberedMatcher | None = None  # of the shares behind proxies
        self._behind: Numbers = NONE  # the share behind each of them
        self._named: Numbers = NONE
        self._owned = Whose.of([])
        self._leaving = Leaving()

    def perform(self, wanted: Operation) -> Said:
        """Do what is wanted; an error of it is an answer, too."""
        try:
            return self._perform(wanted)
        except Exception as error:
            return Failed(str(error), type(error).__name__)

    def _perform(self, wanted: Operation) -> Said:
        if self._leaving and not self._bears_leaving(wanted):
            self._let_go(self._leaving.next(len(self._leaving)))
        match wanted:
            case Match(events=events):
                return self._match(events)
            case Rehearse(sample=events):
                if events:
                    self._match(events)
            case MatchEach(events=events):
                return self._match_each(events)
            case Hold(held=held):
                self._hold(held)
            case LetGo(numbers=numbers, slowly=slowly):
                if slowly:
                    self._leaving.add(numbers)
                else:
                    self._let_go(numbers)
            case Know():
                self._know(wanted)
            case Withdrawn(position=position):
                return Moved([self.matcher.withdraw(position)])
            case Advance(now=now):
                return Moved([self._advance(now)])
            case Shift(by=by):
                self.matcher.shift(by)
            case Outage(by=by, until=until):
                self.matcher.outage(by, until)
            case PostponeExpiry(by=by):
                self.matcher.postpone_expiry(by)
            case Excuse(sources=sources, why=why, at=at, ends=ends):
                (self.matcher.end_excuse if ends else self.matcher.excuse)(sources, why, at)
            case Expect(number=number, key=key, source=source, position=position, at=at, ends=ends):
                if ends:
                    self.matcher.unexpect(number, key, position)
                else:
                    self.matcher.expect(number, key, source, position, at)
            case Expects(number=number, key=key):
                return Yes(self.matcher.expects(number, key))
            case Rename(before=before, after=after):
                self.matcher.rename(before, after)
            case RenameSource(before=before_name, after=after_name):
                self.matcher.rename_source(before_name, after_name)
            case Adopt(folder=folder):
                self.matcher.adopt(NumberedMatcher(self.matcher.matcher.alike_from(Path(folder))))
            case Save(folder=folder):
                self.matcher.save(Path(folder))
            case Load():
                self._take(wanted)
            case Proxies(roots=roots):
                self._stand_for(roots)
            case Plan(events=events):
                return plan(self.matcher, read_entries(events), [each.at for each in events])
            case WouldMatch(body=body, at=at):
                return Moved([self.matcher.would_match(read_event(body, 0), at)])
            case Explain(body=body, number=number, at=at, position=position):
                return Explained(self.matcher.explain(read_event(body, 0), number, at, position))
            case Board(number=number):
                return Ranked(self.matcher.board(number))
            case Standings(number=number, limit=limit):
                return Stood(self.matcher.standings(number, limit), self.matcher.count_keys(number))
            case Ask(positions=positions):
                own = self.matcher
                needed = [each for each in positions if own.holds_for_long(each) or own.names(each)]
                return Answers(own.next_due(), needed, own.refused_late, own.keyless, own.wrong_clocks)
            case _:
                raise AssertionError(wanted)
        return Done()

    def _hold(self, held: Sequence[messages.NewSubscription]) -> None:
        new = [each for each in held if each.number not in self.matcher]
        self.owner.update({each.number: each.owner for each in held})
        self._named = NONE
        if len(new) == 1:
            self.matcher.add(new[0].number, new[0].subscription, new[0].at)
        elif new:
            self.matcher.add_many([(each.number, each.subscription, each.at) for each in new])

    def _let_go(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self.owner.pop(number, None)
            if number in self.matcher:  # its validity may have ended it
                self.matcher.remove(number)

    def _bears_leaving(self, wanted: Operation) -> bool:
        """Whether something can be done while some subscriptions are on their way out."""
        if isinstance(wanted, Hold):
            return not any(each.number in self._leaving for each in wanted.held)
        return isinstance(wanted, Match | LetGo | Know)

    def tidy(self) -> None:
        """Do a little of what was put off; to be called after each answer."""
        if self._leaving:
            self._let_go(self._leaving.next())

    def _take(self, wanted: Load) -> None:
        assert self._load is not None
        self.matcher = self._load(Path(wanted.folder))
        if wanted.kept is not None:
            kept = set(wanted.kept)
            for number in [number for number, _ in self.matcher.subscriptions() if number not in kept]:
                self.matcher.remove(number)
        self.owner = dict(wanted.owners)
        self._named = NONE

    def _know(self, wanted: Know) -> None:
        if self._annotations is not None:
            text = wanted.annotations
            self._annotations.table = read_annotations(text) if text else NO_ANNOTATIONS
        learn(self.matcher, self.matcher.interpretation.feedback, wanted)

    # -- matching -------------------------------------------------------------------------------

    def _match(self, events: Sequence[EventSent]) -> Matched:
        failed: dict[int, str] = {}
        entries, at = read_entries(events), [each.at for each in events]
        places = {entry.position: place for place, entry in enumerate(entries)}

        def aside(entry: Entry, error: Exception) -> None:
            failed[places[entry.position]] = f"{type(error).__name__}: {error}"

        met = self._leaving.without(match_guarded(self.matcher, entries, aside, at))
        numbers = met.named[met.index].astype("<i8", copy=False)
        counts = np.diff(met.starts).astype("<i4")
        scores = b"" if met.scores is None else met.scores.astype("<f4", copy=False).tobytes()
        behind = self._passed(entries, at)
        chosen = np.array([not each.over for each in events], bool)
        given = chosen & (counts > 0)
        shares = Shares.of(met, self._owners(met.named), given)
        return Matched(
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

    def _stand_for(self, roots: Sequence[tuple[int, Subscription]]) -> None:
        """Have these roots in front of shares elsewhere."""
        self._roots = self.matcher.alike() if roots else None
        self._behind = np.array([share for share, _ in roots], np.int64)
        if self._roots is not None:
            self._roots.add_many(
                [(place, msgspec.structs.replace(each, valid_for=None), 0) for place, (_, each) in enumerate(roots)]
            )

    def _passed(self, entries: Sequence[Entry], at: Sequence[int]) -> dict[int, bytes]:
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

    def _owners(self, named: Numbers) -> Whose:
        """Whose subscriptions are; found once as long as the same array names them."""
        if named is not self._named:
            self._named, self._owned = named, Whose.of([self.owner.get(number, -1) for number in named.tolist()])
        return self._owned

    def _advance(self, now: int) -> list[Found]:
        """What time brings about up to a moment, each with when: so that several shares' can be put in order."""
        found: list[Found] = []
        last, due = None, self.matcher.next_move()
        while due is not None and due <= now and due != last:  # what is not moved by then follows below
            found += [each._replace(due=due) for each in self.matcher.advance(due)]
            last, due = due, self.matcher.next_move()
        return found + [each._replace(due=now) for each in self.matcher.advance(now)]

    def _match_each(self, events: Sequence[EventSent]) -> Moved:
        found: list[list[Found]] = []
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
        return Moved(found, failed)


def _packed(
    met: MetEvents, shares: Shares, given: np.ndarray[tuple[int], np.dtype[np.bool_]]
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


def learn(matcher: NumberedMatcher, feedback: Feedback, wanted: Know) -> None:
    """Let judgements hold that are said, and no others."""
    now, before = {each.number: each for each in wanted.judgements}, {each.number: each for each in feedback}
    changed = [each for number, each in before.items() if now.get(number) != each]
    for each in changed:
        feedback.undo(each.number)
    new = [each for number, each in now.items() if before.get(number) != each]
    feedback.take_up(new)
    for each in (*changed, *new):
        matcher.forget_relatedness(concerns(each.pairs))


def read_entries(events: Sequence[EventSent]) -> list[Entry]:
    """Events as entries of the log, read into columns where they can be."""
    if events and not any(is_written(each.body) for each in events):
        try:
            batch = read_each([each.body for each in events])
            if batch.columnar:
                return [
                    Entry(0, EVENT, InBatch(batch, place), each.body, position=each.position)
                    for place, each in enumerate(events)
                ]
        except LikewiseError:  # one by one it is seen which
            pass
    return [Entry(0, EVENT, read_event(each.body, each.position), each.body, position=each.position) for each in events]
