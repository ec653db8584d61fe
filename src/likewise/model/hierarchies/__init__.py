"""Hierarchies: MQTT `topic_filters` over topics, and declared `types` for `is-a`."""
