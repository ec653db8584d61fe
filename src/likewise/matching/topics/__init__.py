"""MQTT's topics by level: `trie` finds which of many filters a topic meets, `topics` which of many topics a filter."""
