"""Alerts over many keys: what an event moves is found through the index, what time moves through one queue.

For each event the index says which conditions it meets: an alert's own (it holds), a family's `about` (who follows this
key and does not hold fails), and what arms an alert again. Nothing looks at all alerts, nor at all keys.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec
import numpy as np

from likewise.defaults import ALERT_FORGET, CACHE_BYTES, LATENESS, THRESHOLD
from likewise.errors import ArtefactDamaged, UnknownId
from likewise.matching.alerts.key_state import KeyState
from likewise.matching.alerts.members import Family, Member, SharedCondition
from likewise.matching.alerts.saved import (
    Row,
    SavedMarks,
    digest_row,
    items_of,
    read_alerts,
    state_of,
    state_row,
    unsaid_of,
    unsaid_row,
    write_alerts,
)
from likewise.matching.alerts.unsaid import Unsaid
from likewise.matching.cache_use import CacheUse
from likewise.matching.condition_index import ConditionIndex
from likewise.matching.engine import BaseEngine, Found, FoundBatch, KeyStanding, found_batch
from likewise.matching.explaining.alerts import AlertStanding, with_standing
from likewise.matching.explaining.explain import explain
from likewise.matching.plain.alerts.digest import gathered, item_of, with_items
from likewise.matching.plain.alerts.moves import key_of, watched
from likewise.matching.plain.alerts.story import Heard, Say, outage_since
from likewise.matching.plain.conditions import MetCondition
from likewise.matching.plain.needed import Needed
from likewise.model import Event, Explanation, Kind, Match, Promotion, Subscription
from likewise.model.alerts.spoken import Key, Spoken
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.probability import AS_SCORED, ProbabilityCurve

if TYPE_CHECKING:
    from likewise.semantics.measure import Measure

Hits = list[tuple[int, Match]]
DIGEST = 0  # comes before what happens at the same moment
ROOM = 10_000  # keys and marks before those of which nothing came for long are looked for


class _Move:
    """What an event does to one alert."""

    __slots__ = ("clears", "fails", "holds", "member", "met")

    def __init__(self, member: Member) -> None:
        self.member = member
        self.holds = self.fails = self.clears = False
        self.met: MetCondition | None = None


class AlertEngine(BaseEngine):
    """Subscriptions that speak of what lasts. `refused_late` counts events that came too late, `keyless` those that
    lack what tells keys apart; a key of which nothing came for `forget` (µs) is forgotten.

    >>> from likewise.language import parse
    >>> from likewise.model import event
    >>> engine = AlertEngine()
    >>> engine.add(0, parse("{x > 1} for 5 s", id="high"), at=0)
    >>> engine.match(event({"x": 2}, id="a"), at=0), [match.cause for _, match in engine.advance(5_000_000)]
    ([], ['held'])
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset({"alert"})

    def __init__(
        self,
        measure: Measure | None = None,
        threshold: float = THRESHOLD,
        *,
        lateness: int = LATENESS,
        cache_bytes: int = CACHE_BYTES,
        curve: ProbabilityCurve = AS_SCORED,
        types: Hierarchy = NO_TYPES,
        forget: int = ALERT_FORGET,
    ) -> None:
        super().__init__()
        self.types, self.curve, self.measure = types, curve, measure
        self.threshold, self.lateness, self.forget = threshold, lateness, forget
        self.now: int | None = None
        self.refused_late = self.keyless = 0
        self._index = ConditionIndex(measure, threshold, cache_bytes, curve, types)
        self._members: dict[int, Member] = {}
        self._shared: dict[Subscription, SharedCondition] = {}
        self._by_number: dict[int, SharedCondition] = {}
        self._conditions = 0
        self._sequence = 0
        self._due: list[tuple[int, int, int, int, Key]] = []
        self._heard: dict[str, list[tuple[int, Key]]] = {}  # event id -> where it may still be withdrawn
        self._room = ROOM

    # -- members --------------------------------------------------------------------------------

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold an alert; its keys have no state yet."""
        self.admit(ordinal, subscription)
        assert subscription.alert is not None  # `serves` lets nothing else in
        asked = watched(subscription)
        about, per = asked.about or asked.condition, subscription.alert.per
        own = self._share(asked.condition)
        near = self._share(about)
        family = near.families.get(per)
        if family is None:
            family = near.families[per] = Family(per, whole=asked.about is not None)
        needed = Needed.of(subscription, self.threshold, self.curve).score
        member = Member(ordinal, subscription, asked, needed, family)
        own.holding[ordinal] = family.members[ordinal] = self._members[ordinal] = member
        family.timed += not member.timeless
        if asked.until is not None:
            self._share(asked.until).clearing[ordinal] = member

    def _share(self, condition: Subscription) -> SharedCondition:
        shared = self._shared.get(condition)
        if shared is None:
            shared = self._shared[condition] = self._by_number[self._conditions] = SharedCondition(self._conditions)
            self._index.add(self._conditions, condition)
            self._conditions += 1
        return shared

    def remove(self, ordinal: int) -> None:
        """Forget an alert with its keys; what nobody shares any more goes with it."""
        self.dismiss(ordinal)
        member = self._members.pop(ordinal)
        family, asked = member.family, member.watched
        for key in list(member.states):
            member.forget(key)
        del family.members[ordinal]
        family.timed -= not member.timeless
        for condition in dict.fromkeys((asked.condition, asked.about or asked.condition, asked.until)):
            if condition is None:
                continue
            shared = self._shared[condition]
            shared.holding.pop(ordinal, None)
            shared.clearing.pop(ordinal, None)
            if shared.families.get(family.per) is family and not family.members:
                del shared.families[family.per]
            if shared.unused():
                self._index.remove(shared.number)
                del self._shared[condition], self._by_number[shared.number]

    # -- events ---------------------------------------------------------------------------------

    def find(self, event: Event, at: int) -> Found:
        """Nothing is met on arrival alone: what alerts say is told by `match` and `match_batch`."""
        self._arrive(event, at)
        return Found(np.empty(0, np.int64), np.empty(0, np.float32))

    def match(self, event: Event, at: int) -> Hits:
        """What is said by the time of an event, and because of it, ordered by ordinal."""
        return sorted(self._arrive(event, at), key=lambda hit: hit[0])

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> FoundBatch:
        """`match` for each event in turn; everything said stands among the promotions."""
        founds, promotions = [], []
        for index, (event, when) in enumerate(zip(events, at, strict=True)):
            promotions += [Promotion(index, match, ordinal) for ordinal, match in self.match(event, when)]
            founds.append(Found(np.empty(0, np.int64), np.empty(0, np.float32)))
        return found_batch(founds, promotions)

    def _arrive(self, event: Event, at: int) -> Hits:
        said = self.advance(at)
        met = self._index.met(event, at)
        if not met:
            return said
        assert self.now is not None
        now, source = self.now, event.source or ""
        time = min(now, at if event.time is None else event.time)
        keys: dict[tuple[str, ...], Key | None] = {}
        moves = self._moves(event, met, keys)
        late = False
        marked: dict[Family, None] = {}
        lately: dict[Family, bool] = {}
        for number, _ in met:
            for family in self._by_number[number].families.values():
                if family.whole and family.timed and _key(event, family.per, keys) is not None:
                    marked[family] = None
        self._sequence += 1
        for ordinal in sorted(moves):
            move = moves[ordinal]
            member, family = move.member, move.member.family
            key = keys[family.per]
            assert key is not None  # others move nothing
            if not member.timeless:
                behind = lately.get(family)
                if behind is None:
                    behind = lately[family] = self._is_behind(family, key, source, time)
                if behind:
                    late = True
                    continue
                if move.holds:
                    marked[family] = None
            state = member.states.get(key)
            if state is not None and now - state.last_arrival >= self._kept(member):
                member.forget(key)
                state = None
            if state is None:
                if not (move.holds or self.lateness) or (member.timeless and not move.holds):
                    continue
                state = KeyState()
            score, product = (1.0, 1.0) if move.met is None else move.met[:2]
            heard = Heard(
                self._sequence, now, time, source, event.id, move.holds, move.fails, move.clears, score, product
            )
            if member.timeless and not (move.holds or move.fails):
                continue
            lateness = 0 if member.timeless else self.lateness
            before = state.copy() if member.retells and key not in member.unsaid else None
            says = state.hear(member.alert, heard, lateness)
            self._settle_down(member, key, state)
            if before is None:
                if member.unsaid and key in member.unsaid:
                    member.unsaid[key].hear(member.alert, heard, lateness)
            elif says:
                member.unsaid[key] = Unsaid(before, [heard])
            if event.id is not None and (key in member.states or says):
                self._heard.setdefault(event.id, []).append((ordinal, key))
            said += self._tell(member, key, says)
        self.refused_late += late
        self.keyless += None in keys.values()
        for family in marked:
            key = keys[family.per]
            if key is not None and not lately.get(family, False):
                mark = family.mark_of(key, source)
                if family.marks.get(mark, time) <= time:
                    family.marks[mark] = time
        if len(self._heard) > self._room:
            self._forget_old(now)
        return said

    def _moves(
        self, event: Event, met: list[tuple[int, MetCondition]], keys: dict[tuple[str, ...], Key | None]
    ) -> dict[int, _Move]:
        """What an event does to the alerts it can move, by ordinal."""
        moves: dict[int, _Move] = {}
        unsure: set[int] = set()
        for number, how in met:
            for ordinal, member in self._by_number[number].holding.items():
                if how.score < member.needed:
                    unsure.add(ordinal)
                elif _key(event, member.family.per, keys) is not None:
                    move = moves.get(ordinal)
                    if move is None:
                        move = moves[ordinal] = _Move(member)
                    move.holds, move.met = True, how
        for number, _ in met:
            shared = self._by_number[number]
            for per, family in shared.families.items():
                key = _key(event, per, keys)
                if key is None or not family.whole:
                    continue
                for ordinal in family.members if self.lateness else family.live.get(key, ()):
                    if ordinal not in unsure and (ordinal not in moves or not moves[ordinal].holds):
                        moves.setdefault(ordinal, _Move(family.members[ordinal])).fails = True
            for ordinal, member in shared.clearing.items():
                if _key(event, member.family.per, keys) is not None:
                    moves.setdefault(ordinal, _Move(member)).clears = True
        return moves

    def _is_behind(self, family: Family, key: Key, source: str, time: int) -> bool:
        assert self.now is not None
        newest = family.marks.get(family.mark_of(key, source), time)
        return time < newest and time < self.now - self.lateness and self.now - self.forget < newest

    def _kept(self, member: Member) -> int:
        return max(self.forget, 2 * member.longest)

    def _settle_down(self, member: Member, key: Key, state: KeyState) -> None:
        """After a step: keep the state if it says anything, and note when it next moves by itself."""
        member.keep(key, state)
        due = state.due(member.alert, 0 if member.timeless else self.lateness)
        if due is not None and due != state.scheduled:
            heapq.heappush(self._due, (due[0], member.ordinal, due[1], due[2], key))
        state.scheduled = due

    def _tell(self, member: Member, key: Key, says: list[Say]) -> Hits:
        if not says:
            return []
        if member.alert.digest_every is None:
            return [(member.ordinal, self._match(member, key, say)) for say in says]
        for say in says:
            member.items.append(item_of(say, key))
            if say.about.event_id is not None:
                self._heard.setdefault(say.about.event_id, []).append((member.ordinal, key))
        self._schedule_digest(member)
        return []

    def _schedule_digest(self, member: Member) -> None:
        end = member.digest_end()
        if end is not None and end != member.scheduled:
            heapq.heappush(self._due, (end, member.ordinal, DIGEST, 0, ()))
        member.scheduled = end

    def _match(self, member: Member, key: Key, say: Say) -> Match:
        about = say.about
        return Match(
            about.event_id, member.subscription.id, "alert", about.score, about.product, None, (), None, say.cause,
            self.curve, Spoken(key, say.moment, say.since, say.suppressed),
        )  # fmt: skip

    # -- time -----------------------------------------------------------------------------------

    def advance(self, now: int) -> Hits:
        """Let time pass; what is due is said in the order of moments, then of ordinals, then of keys."""
        said: Hits = []
        while self._due and self._due[0][0] <= now:
            moment, ordinal, what, sequence, key = heapq.heappop(self._due)
            member = self._members.get(ordinal)
            if member is None:
                continue
            if what == DIGEST:
                if member.scheduled == moment:
                    said.append((ordinal, self._digest(member, moment)))
                continue
            state = member.states.get(key)
            if state is None or state.scheduled != (moment, what, sequence):
                continue
            state.scheduled = None
            before = state.copy() if member.retells and key not in member.unsaid else None
            says = state.tick(member.alert, moment, what)
            if before is not None and says:
                member.unsaid[key] = Unsaid(before)
            self._settle_down(member, key, state)
            said += self._tell(member, key, says)
        self.now = now if self.now is None else max(self.now, now)
        return said

    def _digest(self, member: Member, moment: int) -> Match:
        spoken, last = gathered(member.items, moment), member.items[-1]
        member.items, member.scheduled, member.unsaid = [], None, {}
        return Match(
            last.event_id, member.subscription.id, "alert", last.score, last.score, None, (), None, "digest",
            self.curve, spoken,
        )  # fmt: skip

    def withdraw(self, event_id: str) -> Hits:
        """Take an event back: it no longer counts for what has not been said."""
        said: Hits = []
        before = None
        for ordinal, key in sorted(set(self._heard.pop(event_id, ()))):
            member = self._members.get(ordinal)
            if member is None:
                continue
            again = key in member.unsaid and self._tell_again(member, key, event_id)
            if member.items and (again or ordinal != before):
                member.items = [item for item in member.items if item.event_id != event_id]
                self._schedule_digest(member)
            before = ordinal
            state = member.states.get(key)
            if state is not None and not again:
                says = state.take_back(member.alert, event_id, self.now or 0)
                self._settle_down(member, key, state)
                said += self._tell(member, key, says)
                if event_id in state.held_back:  # that it cleared was held back itself
                    self._heard.setdefault(event_id, []).append((ordinal, key))
        return said

    def _tell_again(self, member: Member, key: Key, event_id: str) -> bool:
        """Let a key be as if an event had not been, if it only moved what waits in a digest; whether that was done."""
        unsaid, lateness = member.unsaid[key], 0 if member.timeless else self.lateness
        gathered_it = any(item.key == key and item.event_id == event_id for item in member.items)
        if not (gathered_it or unsaid.names(event_id)):
            return False
        found = unsaid.tell_again(member.alert, event_id, self.now or 0, lateness)
        if found is None:
            del member.unsaid[key]
            return False
        state, says = found
        member.items, unsaid.settled = with_items(member.items, key, unsaid.settled, event_id, says)
        if not any(item.key == key for item in member.items):
            del member.unsaid[key]
        member.replace(key, state)
        self._settle_down(member, key, state)
        self._schedule_digest(member)
        return True

    def outage(self, by: int, until: int | None = None) -> None:
        """Nothing could be heard for so long (µs), until a moment: silence counts on from there."""
        for member in self._members.values():
            if member.timeless:
                member.unsaid = {}
                for key, state in list(member.states.items()):
                    part = by if until is None else outage_since(state.heard_at(), by, until)
                    state.move(part, only_arrival=True)
                    self._settle_down(member, key, state)

    def shift(self, by: int) -> None:
        """Let time, and everything that is known, count as so many µs later: a clock was set."""
        if self.now is None:
            return
        self.now += by
        self._due = []
        for family in {member.family: None for member in self._members.values()}:
            family.marks = {mark: time + by for mark, time in family.marks.items()}
        for member in self._members.values():
            member.items = [msgspec.structs.replace(item, moment=item.moment + by) for item in member.items]
            member.scheduled, member.unsaid = None, {}
            self._schedule_digest(member)
            for key, state in list(member.states.items()):
                state.move(by)
                self._settle_down(member, key, state)

    def _forget_old(self, now: int) -> None:
        """Now and then, let go of keys of which nothing came for long, and of what can no longer be withdrawn."""
        for member in self._members.values():
            kept = self._kept(member)
            for key in [key for key, state in member.states.items() if now - state.last_arrival >= kept]:
                member.forget(key)
        for family in {member.family: None for member in self._members.values()}:
            family.marks = {mark: time for mark, time in family.marks.items() if now - self.forget < time}
        self._heard = {}
        for member in self._members.values():
            self._note(member)
        self._room = max(ROOM, 2 * len(self._heard))

    def _note(self, member: Member) -> None:
        """Note which events can be withdrawn from an alert."""
        for key, id in _withdrawable(member):
            if id is not None:
                self._heard.setdefault(id, []).append((member.ordinal, key))

    # -- telling --------------------------------------------------------------------------------

    def explain(self, event: Event, ordinal: int, at: int) -> Explanation:
        """Why the event does or does not meet the alert, and where its key stands."""
        member = self._members.get(ordinal)
        if member is None:
            raise UnknownId(str(ordinal))
        found = explain(
            event, member.subscription, measure=self.measure, threshold=self.threshold, curve=self.curve, at=at,
            types=self.types,
        )  # fmt: skip
        now = at if self.now is None else max(self.now, at)
        key = key_of(event, member.alert.per)
        state = None if key is None else member.states.get(key)
        if state is None or (self.now or 0) - state.last_arrival >= self._kept(member):
            return with_standing(found, member.alert, AlertStanding(key is not None, now))
        standing = AlertStanding(True, now, state.begin, state.told, state.spoken, state.quiet_until)
        return with_standing(found, member.alert, standing)

    def standings(self, ordinal: int, limit: int) -> list[KeyStanding]:
        """The keys of an alert of which something came last, the newest first."""
        member = self._members[ordinal]
        newest = heapq.nlargest(limit, member.states.items(), key=lambda item: item[1].last_arrival)
        return [
            KeyStanding(
                key, state.heard_at(), state.begin, state.told, state.spoken, state.absent, state.quiet_until,
                len(state.held_back) + state.more_held_back,
            )
            for key, state in newest
        ]  # fmt: skip

    def keys(self) -> int:
        """How many keys have a state, over all alerts."""
        return sum(len(member.states) for member in self._members.values())

    def next_due(self) -> int | None:
        """When time next moves something by itself, or an earlier moment: what was put off leaves its place behind."""
        return self._due[0][0] if self._due else None

    def names(self, event_id: str) -> bool:
        """Whether what is said next may name an event: the newest about a key, or one that a digest gathered."""
        for ordinal, key in self._heard.get(event_id, ()):
            member = self._members.get(ordinal)
            state = None if member is None else member.states.get(key)
            if state is not None and state.last_is(event_id):
                return True
            if member is not None and member.items and member.items[-1].event_id == event_id:
                return True
        return False

    def adopt(self, other: AlertEngine, ordinals: Mapping[int, int]) -> None:
        """Take over what another engine knows of some alerts, from its ordinals to those here; it is done with then.

        What its digests hold stays behind: what came before is not said.
        """
        self.now = other.now if self.now is None else max(self.now, other.now or self.now)
        for theirs, ours in ordinals.items():
            taken, member = other._members.get(theirs), self._members.get(ours)
            if taken is None or member is None:
                continue
            for mark, time in taken.family.marks.items():
                member.family.marks[mark] = max(time, member.family.marks.get(mark, time))
            for key, state in taken.states.items():
                state.scheduled = None
                self._settle_down(member, key, state)
            self._note(member)

    def caches(self) -> dict[str, CacheUse]:
        """What the index of conditions looks up."""
        return self._index.caches()

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Let the index of conditions forget what it knows about some seen texts."""
        self._index.forget_relatedness(of)

    # -- keeping --------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Write every key's state, how far sources are, and what digests hold."""
        write_alerts(folder, self._rows(), self.now, self._sequence, self.refused_late, self.keyless)

    def _rows(self) -> Iterator[Row]:
        for family in {member.family: None for member in self._members.values()}:
            if family.marks:
                marks = [
                    ((), mark, time) if isinstance(mark, str) else (*mark, time) for mark, time in family.marks.items()
                ]
                yield "marks", min(family.members), msgspec.json.encode(SavedMarks(marks))
        for ordinal, member in self._members.items():
            if member.items:
                yield digest_row(ordinal, member.items)
            for key, unsaid in member.unsaid.items():
                yield unsaid_row(ordinal, key, unsaid)
            for key, state in member.states.items():
                yield state_row(ordinal, key, state)

    def load(self, folder: Path) -> None:
        """Fill the keys with what `save` wrote."""
        facts, rows = read_alerts(folder)
        for what, ordinal, value in rows:
            member = self._members.get(ordinal)
            if member is None:
                raise UnknownId(str(ordinal))
            try:
                self._take(member, what, value)
            except msgspec.MsgspecError as error:
                raise ArtefactDamaged(f"{folder}: a state of alert {ordinal} cannot be read ({error})") from None
        self.now, self._sequence = facts.now, facts.sequence
        self.refused_late, self.keyless = facts.refused_late, facts.keyless
        for member in self._members.values():
            self._note(member)

    def _take(self, member: Member, what: str, value: bytes) -> None:
        if what == "marks":
            family = member.family
            saved = msgspec.json.decode(value, type=SavedMarks).marks
            family.marks = {family.mark_of(key, source): time for key, source, time in saved}
        elif what == "digest":
            member.items = items_of(value)
            self._schedule_digest(member)
        elif what == "unsaid":
            key, unsaid = unsaid_of(value)
            member.unsaid[key] = unsaid
        else:
            key, state = state_of(value)
            self._settle_down(member, key, state)


def _key(event: Event, per: tuple[str, ...], keys: dict[tuple[str, ...], Key | None]) -> Key | None:
    if per not in keys:
        keys[per] = key_of(event, per)
    return keys[per]


def _withdrawable(member: Member) -> Iterator[tuple[Key, str | None]]:
    for item in member.items:
        yield item.key, item.event_id
    before = [(key, unsaid.state) for key, unsaid in member.unsaid.items()]
    for key, state in (*member.states.items(), *before):
        for heard in (*state.trail, *state.waiting):
            yield key, heard.event_id
        for id in state.held_back:
            yield key, id
    for key, unsaid in member.unsaid.items():
        for heard in unsaid.heard:
            yield key, heard.event_id
