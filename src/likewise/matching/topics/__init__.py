"""MQTT's topic filters in a trie: which of many filters does a topic meet? `trie` keeps one level a step."""
