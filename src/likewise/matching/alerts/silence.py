"""Whose silence counts for `absent for`, and from when on: outages of ours, sources that rest or were announced.

What cannot be heard is not silent. While what brings a source is down, or the source was told to rest, its keys are
paused, and what passed meanwhile does not count. A source that announced what an alert asks for is waited for from
then on, as if it had held once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from likewise.matching.alerts.alert_groups import Member
from likewise.matching.alerts.alert_registry import HeldAlerts
from likewise.matching.alerts.key_state import KeyState
from likewise.matching.reference.alerts.clocks import rename_clock
from likewise.matching.reference.alerts.state import Heard, outage_since
from likewise.model.alerts.notification import Key, Why


class Silence(HeldAlerts):
    """Alerts that know whose silence means nothing."""

    def outage(self, by: int, until: int | None = None) -> None:
        """Nothing could be heard for so long (µs), until a moment: silence counts on from there."""
        for member in self._members.values():
            if member.timeless:
                member.drop_unsaid()
                for key, state in list(member.states.items()):
                    if state.paused is not None:  # all of its silence is excused
                        continue
                    part = by if until is None else outage_since(state.heard_at(), by, until)
                    state.move(member.alert, part, only_arrival=True)
                    if until is not None:
                        state.last_arrival = min(state.last_arrival, until)
                    self._settle_down(member, key, state)

    def postpone_expiry(self, by: int) -> None:
        """Let a time (µs) in which nothing came at all bring no key nearer to being forgotten."""
        for member in self._members.values():
            for state in member.states.values():
                state.last_arrival += by

    def excuse(self, sources: Iterable[str], why: Why, at: int) -> None:
        """From now on the silence of some sources means nothing."""
        self._look_at_pauses(self._excuses.add(sources, why), at)

    def end_excuse(self, sources: Iterable[str], why: Why, at: int) -> None:
        """It counts again; what passed meanwhile does not."""
        self._look_at_pauses(self._excuses.end(sources, why), at)

    def excused(self, why: Why) -> set[str]:
        """The sources whose silence means nothing."""
        return set(self._excuses.sources[why])

    def _look_at_pauses(self, sources: Iterable[str], at: int) -> None:
        now, changed = at if self.now is None else max(self.now, at), list(sources)
        for member in self._members.values() if changed else ():
            if member.timeless:
                for key, state in list(self._of(member, changed)):
                    if self._pause_or_not(member, key, state, now):
                        self._settle_down(member, key, state)

    def _of(self, member: Member, sources: Iterable[str]) -> Iterator[tuple[Key, KeyState]]:
        """The keys of an alert that some sources may belong to."""
        if member.alert.per:
            yield from member.states.items()
            return
        for source in sources:
            if (state := member.states.get((source,))) is not None:
                yield (source,), state

    def _pause_or_not(self, member: Member, key: Key, state: KeyState, now: int) -> bool:
        sources = state.sources() if member.alert.per else {key[0]}
        changed = state.pause_or_not(member.alert, self._excuses.hold_for(sources), now)
        if changed:
            member.drop_unsaid(key)
        return changed

    # -- announced sources ----------------------------------------------------------------------

    def expect(self, ordinal: int, key: Key, source: str, event_id: str | None, at: int) -> None:
        """Something is to come from a key, though nothing held yet: its silence counts from now on."""
        member, now = self._members[ordinal], at if self.now is None else max(self.now, at)
        if not member.timeless:
            return
        state = member.states.get(key)
        if state is not None and now - state.last_arrival >= self._kept(member):
            member.forget(key)
            state = None
        state = state or KeyState()
        heard = Heard(self._sequence + 1, now, now, source, event_id, True, False, False, 1.0, 1.0)
        if not state.expect(member.alert, heard):
            return
        self._sequence += 1
        member.drop_unsaid(key)
        self._pause_or_not(member, key, state, now)
        self._settle_down(member, key, state)
        if event_id is not None:
            self._heard.setdefault(event_id, []).append((ordinal, key))

    def unexpect(self, ordinal: int, key: Key, event_id: str) -> None:
        """It is not to come any more; a key that has held otherwise is watched on."""
        member = self._members[ordinal]
        state = member.states.get(key)
        if member.timeless and state is not None:
            member.drop_unsaid(key)
            if state.unexpect(member.alert, event_id):
                member.forget(key)
            else:
                self._settle_down(member, key, state)

    def rename(self, before: str, after: str) -> None:
        """What is expected was said anew: by another event, in place of an earlier one."""
        known = self._heard.get(before, [])
        for ordinal, key in set(known):
            member = self._members.get(ordinal)
            if member is None or not member.timeless:
                continue
            state = member.states.get(key)
            if state is not None and state.rename(before, after):
                member.drop_unsaid(key)
                self._heard.setdefault(after, []).append((ordinal, key))

    def rename_source(self, before: str, after: str | None) -> None:
        """Let what is known of a source count for another from now on, or (None) for nobody; nothing is said of it."""
        for family in {id(member.family): member.family for member in self._members.values()}.values():
            for mark in [mark for mark in family.marks if (mark if isinstance(mark, str) else mark[1]) == before]:
                time = family.marks.pop(mark)
                if after is not None:
                    known = family.mark_of(() if isinstance(mark, str) else mark[0], after)
                    family.marks[known] = max(time, family.marks.get(known, time))
        rename_clock(self.clocks, before, after)
        for member in self._members.values():
            member.drop_unsaid()
            if member.alert.per:
                self._rename_within(member, before, after)
            elif (state := member.states.get((before,))) is not None:
                self._rename_key(member, state, before, after)
            if after is not None and not member.alert.per:
                member.items = [replace(item, key=(after,)) if item.key == (before,) else item for item in member.items]
            self._note(member)

    def _rename_within(self, member: Member, before: str, after: str | None) -> None:
        """Rename a source in keys that several may have; a key that nothing is left of is let go."""
        for key, state in list(member.states.items()):
            if state.rename_source(member.alert, before, after):
                if after is None and state.is_over():
                    member.forget(key)
                else:
                    self._settle_renamed(member, key, state)

    def _rename_key(self, member: Member, state: KeyState, before: str, after: str | None) -> None:
        """Move the key of a source; where the other has one, the one that is active is kept, else the newer."""
        member.forget((before,))
        if after is None:
            return
        state.rename_source(member.alert, before, after)
        other = member.states.get((after,))
        if other is not None:
            newest = max(state.last_arrival, other.last_arrival)
            state = state if state.precedence() > other.precedence() else other
            state.last_arrival, state.scheduled = newest, None
            member.forget((after,))
        self._settle_renamed(member, (after,), state)

    def _settle_renamed(self, member: Member, key: Key, state: KeyState) -> None:
        """Keep a key under its new name, whose silence may be excused, or not."""
        if member.timeless:
            self._pause_or_not(member, key, state, self.now or 0)
        self._settle_down(member, key, state)

    def expects(self, ordinal: int, key: Key) -> bool:
        """Whether a key of an alert is waited for."""
        member = self._members.get(ordinal)
        return member is not None and key in member.states
