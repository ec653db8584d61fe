"""Taking an event back from alerts: it no longer counts for what has not been said; what was said stays said."""

from __future__ import annotations

from likewise.matching.alerts.alert_groups import Member
from likewise.matching.alerts.alert_registry import Hits
from likewise.matching.alerts.silence import Silence
from likewise.matching.reference.alerts.digest import with_items
from likewise.model.alerts.notification import Key


class Withdrawing(Silence):
    """Alerts from which events can be withdrawn."""

    def withdraw(self, event_id: str) -> Hits:
        """Take an event back: it no longer counts for what has not been said."""
        said: Hits = []
        places: dict[int, list[Key]] = {}
        for ordinal, key in sorted(set(self._heard.pop(event_id, ()))):
            places.setdefault(ordinal, []).append(key)
        for ordinal, keys in places.items():
            member = self._members.get(ordinal)
            if member is None:
                continue
            left = [key for key in keys if not (key in member.unsaid and self._tell_again(member, key, event_id))]
            if member.items:
                member.items = [item for item in member.items if item.event_id != event_id]
                self._schedule_digest(member)
            for key in left:  # last: what they say may name the event
                said += self._take_back(member, key, event_id)
        return said

    def _take_back(self, member: Member, key: Key, event_id: str) -> Hits:
        state = member.states.get(key)
        if state is None:
            return []
        says = state.take_back(member.alert, event_id, self.now or 0)
        if member.timeless:
            self._pause_or_not(member, key, state, self.now or 0)
        self._settle_down(member, key, state)
        return self._tell(member, key, says)

    def _tell_again(self, member: Member, key: Key, event_id: str) -> bool:
        """Let a key be as if an event had not been, if it only moved what waits in a digest; whether that was done."""
        unsaid, lateness = member.unsaid[key], 0 if member.timeless else self.lateness
        gathered_it = any(item.key == key and item.event_id == event_id for item in member.items)
        if not (gathered_it or unsaid.names(event_id)):
            return False
        found = unsaid.tell_again(member.alert, event_id, self.now or 0, lateness)
        if found is None:
            member.drop_unsaid(key)
            return False
        state, says = found
        member.items, unsaid.settled = with_items(member.items, key, unsaid.settled, event_id, says)
        if not any(item.key == key for item in member.items):
            member.drop_unsaid(key)
        if member.timeless:
            self._pause_or_not(member, key, state, self.now or 0)
        member.replace(key, state)
        self._settle_down(member, key, state)
        self._schedule_digest(member)
        return True
