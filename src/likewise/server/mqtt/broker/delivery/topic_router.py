"""Find the receivers of a topic: all filters of sessions and groups, in a trie."""

from __future__ import annotations

from likewise.broker.log.mqtt.sessions import FilterOptions
from likewise.matching.topics.topic_trie import TopicTrie
from likewise.server.mqtt.broker.delivery.session import QueueSender, Session

TopicReceiver = Session | QueueSender  # a group shares what sends


class TopicRouter:
    """The filters of one tenant's sessions and groups. For the loop's thread."""

    def __init__(self) -> None:
        self._trie = TopicTrie()
        self._slots: dict[str, int] = {}
        self._at: dict[int, dict[TopicReceiver, FilterOptions]] = {}
        self._next = 0
        self.count = 0  # of filters; read by the writer's thread, too

    def filters(self) -> list[str]:
        """Return all filters. Safe on any thread."""
        return list(self._slots)

    def put(self, text: str, receiver: TopicReceiver, option: FilterOptions) -> None:
        """Hold a filter of a receiver, in place of its own with the same text."""
        slot = self._slots.get(text)
        if slot is None:
            slot = self._slots[text] = self._next
            self._next += 1
            self._at[slot] = {}
            self._trie.add(text, slot)
            self.count += 1
        self._at[slot][receiver] = option

    def remove(self, text: str, receiver: TopicReceiver) -> None:
        """Let a receiver's filter go, if it is held."""
        slot = self._slots.get(text)
        if slot is None or self._at[slot].pop(receiver, None) is None:
            return
        if not self._at[slot]:
            del self._at[slot], self._slots[text]
            self._trie.remove(text)
            self.count -= 1

    def find(self, topic: str) -> dict[TopicReceiver, list[FilterOptions]]:
        """Return the receivers of a topic, with their options."""
        receivers: dict[TopicReceiver, list[FilterOptions]] = {}
        for slot in self._trie.find(topic):
            for receiver, option in self._at[slot].items():
                known = receivers.get(receiver)
                if known is None:
                    receivers[receiver] = [option]
                else:
                    known.append(option)
        return receivers
